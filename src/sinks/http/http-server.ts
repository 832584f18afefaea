// The HTTP server: listening, limits of connections, and a deadline for each response.
import { STATUS_CODES, createServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { Socket, createServer as createForwarder } from 'node:net';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { Observable, defer, finalize, of } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { Fault } from '../../errors.js';
import type { HeaderFields, Reply, Status } from './reply.js';
import { rawSocket, tlsServer } from './tls.js';
import type { FailedHandshake, GuardTls } from './tls.js';

export type ListenAddress =
  /** A host and port. An undefined host means all addresses of the machine, IPv6 and IPv4. */
  | { readonly host: string | undefined; readonly port: number }
  /** A file descriptor of a listening socket that systemd opened. */
  | { readonly fd: number };

/** Authorizes the clients of a listener. */
export interface Guard {
  /** The TLS settings; undefined for plain HTTP. */
  readonly tls: GuardTls | undefined;
  /** Whether the guard admits only clients with a valid password or certificate. */
  readonly authenticatesClients: () => boolean;
  readonly headers: () => HeaderFields;
  /** Emits the error reply, or undefined to admit the request. */
  readonly refusal: (request: IncomingMessage) => Observable<Reply | undefined>;
}

export const NO_GUARD: Guard = {
  tls: undefined,
  authenticatesClients: () => false,
  headers: () => ({}),
  refusal: () => of(undefined),
};
interface Connections {
  /** The running responses of a connection. */
  readonly responsesOf: (socket: Socket) => ReadonlySet<ServerResponse>;
  /** Closes all idle connections, even those that have sent no request. */
  readonly closeIdle: () => void;
}

/**
 * Limits the connections of a server. Above `max`, closes the connection with the longest idle time, or the new
 * connection if all others have running responses. A connection with an incomplete request counts as idle.
 */
function limitConnections(server: Server, max: number, onDrop: () => void): Connections {
  const open = new Map<Socket, Set<ServerResponse>>();
  /** The connections without a running response, the longest idle first. */
  const idle = new Set<Socket>();
  const forget = (connection: Socket) => {
    open.delete(connection);
    idle.delete(connection);
  };
  server.on('connection', (connection) => {
    open.set(connection, new Set());
    idle.add(connection);
    connection.once('close', () => {
      forget(connection);
    });
    if (open.size <= max) return;
    const [longest = connection] = idle;
    forget(longest);
    longest.destroy();
    onDrop();
  });
  server.on('request', ({ socket }, response) => {
    const connection = rawSocket(socket);
    const responses = open.get(connection);
    responses?.add(response);
    idle.delete(connection);
    response.once('close', () => {
      responses?.delete(response);
      if (responses?.size === 0 && open.has(connection)) idle.add(connection);
    });
  });
  return {
    responsesOf: (socket) => open.get(rawSocket(socket)) ?? new Set(),
    closeIdle: () => {
      for (const connection of idle) connection.destroy();
    },
  };
}

export interface IncomingRequest {
  readonly kind: 'request';
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
export interface Listening {
  readonly kind: 'listening';
  /** Scheme, host and bound port of the listener, or a description of a UNIX socket. */
  readonly origin: string;
}
export type ListenerEvent =
  | IncomingRequest
  | Listening
  /** The server closed an idle connection to admit a new one. */
  | { readonly kind: 'dropped' }
  /** The server answered a request that Node.js could not parse. */
  | { readonly kind: 'unreadable'; readonly status: Status }
  | { readonly kind: 'handshakeFailed'; readonly failed: FailedHandshake };

export interface ListenerOptions {
  /** The addresses to listen at: at least one. */
  readonly addresses: readonly ListenAddress[];
  readonly guard: Guard;
  /** The longest time that a client may take to send a request, in milliseconds. */
  readonly headerMs: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
}

/** How the log names a UNIX socket. It names a TCP listener by `scheme://host:port`. */
const UNIX_SOCKET = 'the UNIX socket of systemd, path ';
/** The longest idle time between two requests of a connection. */
const IDLE_MS = 65_000;
/** After the listener closes, a connection has this time to send its first request. */
const GRACE_MS = 250;
/** The longest interval at which Node.js checks for request timeouts. By default it checks every 30 seconds. */
const MAX_CHECK_MS = 1000;

/**
 * Listens at all addresses while subscribed. Unsubscribing lets running responses finish. Errors
 * with Fault LISTENER_FAILED if the server cannot use an address.
 */
export function listen(options: ListenerOptions): Observable<ListenerEvent> {
  const { addresses, guard, headerMs, maxHeaderBytes, maxConnections } = options;
  const scheme = guard.tls === undefined ? 'http' : 'https';
  return new Observable((subscriber) => {
    const settings: ServerOptions = {
      // The dispatcher checks the Host header, so that the exporter counts the refusal.
      requireHostHeader: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headerMs,
      requestTimeout: headerMs,
      connectionsCheckingInterval: Math.min(headerMs, MAX_CHECK_MS),
      keepAliveTimeout: IDLE_MS,
    };
    const server =
      guard.tls === undefined
        ? createServer(settings)
        : tlsServer(guard.tls, settings, (failed) => {
            subscriber.next({ kind: 'handshakeFailed', failed });
          });
    server.on('request', (request, response) => {
      // Read and ignore the body of a request: an unread body would block the connection.
      if (hasBody(request)) request.resume();
      response.once('close', () => {
        // A connection that was busy when the listener closed becomes idle now.
        if (!server.listening) setImmediate(() => server.closeIdleConnections());
      });
      if (subscriber.closed) refuseDuringShutdown(response);
      else subscriber.next({ kind: 'request', request, response });
    });
    // Each queued response adds listeners to its socket. Without this call, Node.js would warn of a leak.
    for (const event of ['connection', 'secureConnection'])
      server.on(event, (socket: Socket) => {
        socket.setMaxListeners(0);
      });
    const { responsesOf, closeIdle } = limitConnections(server, maxConnections, () => {
      subscriber.next({ kind: 'dropped' });
    });
    answerUnreadable(server, responsesOf, (status) => {
      subscriber.next({ kind: 'unreadable', status });
    });
    // A server listens at one address; forwarders pass it the connections of other addresses.
    const listeners = addresses.map((_, index) => (index === 0 ? server : forwarder(server)));
    listeners.forEach((each, index) => {
      const address = addresses[index] ?? { host: undefined, port: 0 };
      each.on('error', (error: Error) => {
        subscriber.error(listenFault(address, error));
      });
      each.listen(address, () => {
        const authority = boundAuthority(address, each.address());
        const origin = authority === undefined ? UNIX_SOCKET : `${scheme}://${authority}`;
        subscriber.next({ kind: 'listening', origin });
      });
    });
    return () => {
      for (const each of listeners) each.close();
      server.closeIdleConnections();
      // A new connection may be about to send its first request.
      setTimeout(closeIdle, GRACE_MS).unref();
    };
  });
}

/** Answers 503 to a request that arrived, or waited for the guard, while the listener was closing. */
export function refuseDuringShutdown(response: ServerResponse): void {
  const text = 'the exporter is shutting down\n';
  const length = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': text.length };
  response.writeHead(503, { ...length, Connection: 'close' }).end(text);
}

/** Answers requests that Node.js cannot parse, or would answer itself. @param onAnswered called with the status */
function answerUnreadable(
  server: Server,
  responsesOf: Connections['responsesOf'],
  onAnswered: (status: Status) => void,
): void {
  const refuse = (socket: Socket, status: Status, text: string): void => {
    // If the server has sent only a part of an earlier response, the client would read the error text as the rest of
    // that response.
    const hasBegun = [...responsesOf(socket)].some(({ headersSent }) => headersSent);
    if (hasBegun || !socket.writable) socket.destroy();
    else {
      const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n`;
      const length = `Content-Length: ${text.length + 1}\r\n`;
      socket.write(`${head}Content-Type: text/plain; charset=utf-8\r\n${length}\r\n${text}\n`);
      socket.destroySoon();
    }
    onAnswered(status);
  };
  server.on('clientError', (error: Error & { code?: string; reason?: string }, socket) => {
    const { code = '', reason = '' } = error;
    // Do not count a client that sent nothing, such as a browser that connects in advance.
    if (!(socket instanceof Socket) || socket.bytesRead === 0 || !/^(HPE_|ERR_HTTP_)/.test(code))
      socket.destroy();
    else if (code === 'HPE_HEADER_OVERFLOW')
      refuse(socket, 431, 'the head of the request is larger than http_max_header_bytes');
    else if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
      refuse(socket, 408, 'the request was not complete after http_header_timeout_seconds');
    else refuse(socket, 400, `malformed request: ${reason}`);
  });
  server.on('connect', ({ socket }: IncomingMessage) => {
    refuse(socket, 405, 'method CONNECT is not allowed');
  });
  // RFC 9110 allows a server to ignore an Expect header with an unknown value. Node.js would answer 417.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Whether a request has a body (RFC 9112, 6.3). */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

const forwarder = (server: Server): NetServer =>
  createForwarder({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });

/**
 * Closes the connection if the response takes longer than `ms`. A socket timeout cannot stop a slow
 * reader: each byte restarts the timeout.
 */
export const deadline =
  <T>(ms: number, socket: Socket): MonoTypeOperatorFunction<T> =>
  (response$) =>
    defer(() => {
      const timer = setTimeout(() => socket.destroy(), ms);
      return response$.pipe(
        finalize(() => {
          clearTimeout(timer);
        }),
      );
    });

function shownAddress(address: ListenAddress): string {
  if ('fd' in address) return `descriptor ${address.fd}`;
  return authorityOf(address.host ?? '', address.port);
}

/**
 * The host and bound port of a listener, written as in a URL; undefined for a UNIX socket.
 * @param bound the address that the server reports
 */
export function boundAuthority(
  address: ListenAddress,
  bound: AddressInfo | string | null,
): string | undefined {
  if (bound === null || typeof bound === 'string') return undefined;
  const host = 'fd' in address ? bound.address : (address.host ?? bound.address);
  return authorityInUrl(host, bound.port);
}

/** Host and port, written as in a listen address. */
export const authorityOf = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Host and port, written as in a URL: the zone of an IPv6 address follows `%25` (RFC 6874). */
export const authorityInUrl = (host: string, port: number): string =>
  authorityOf(host.replace('%', '%25'), port);

export function listenFault(address: ListenAddress, error: Error): Fault {
  const way = 'port' in address && 'code' in error ? wayOut(address, error.code) : '';
  const what = `Cannot listen on ${shownAddress(address)}: ${error.message}${way}`;
  return new Fault('LISTENER_FAILED', what, { cause: error });
}

/** The probable cause or the next step, for an error code of the system; empty for most codes. */
function wayOut(
  { host = '', port }: { readonly host: string | undefined; readonly port: number },
  code: unknown,
): string {
  if (code === 'EADDRINUSE') return `; "ss -ltnp 'sport = :${port}'" shows which process uses it`;
  const [, zone] = host.split('%');
  // Node.js accepts the name of an interface as a zone, but not its number.
  return code === 'EINVAL' && zone !== undefined
    ? `; no interface has the name ${JSON.stringify(zone)}; "ip link" lists the interfaces`
    : '';
}

// The HTTP server: listening, limits of connections, and a deadline for each response.
import { STATUS_CODES, createServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import { Socket, createServer as createForwarder } from 'node:net';
import type { Server as NetServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { Observable, Subscription, using } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Guard, GuardTls } from './admission.js';
import { failedHandshake, rawSocket, refusedCertificate } from './handshake-error.js';
import type { FailedHandshake } from './handshake-error.js';
import { boundAuthority, listenAt, listenFault } from './listen-address.js';
import type { ListenAddress } from './listen-address.js';
import type { Status } from './reply.js';

/**
 * Limits the connections of a server. Above `max`, closes the connection with the longest idle time, or the new
 * connection if all others have running requests. A connection with an incomplete request counts as idle.
 * @returns a function that closes all idle connections, even those that have sent no request
 */
function limitConnections(server: Server, max: number, onDrop: () => void): () => void {
  /** The number of running requests of each connection. */
  const open = new Map<Socket, number>();
  /** The connections without a running request, the longest idle first. */
  const idle = new Set<Socket>();
  const forget = (connection: Socket) => {
    open.delete(connection);
    idle.delete(connection);
  };
  const change = (connection: Socket, by: number) => {
    const before = open.get(connection);
    if (before === undefined) return;
    open.set(connection, before + by);
    if (before + by > 0) idle.delete(connection);
    else idle.add(connection);
  };
  server.on('connection', (connection) => {
    open.set(connection, 0);
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
    const connection = socket instanceof TLSSocket ? (rawSocket(socket) ?? socket) : socket;
    change(connection, 1);
    response.once('close', () => {
      change(connection, -1);
    });
  });
  return () => {
    for (const connection of idle) connection.destroy();
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
  /** The maximum number of bytes of the head of a request. */
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
    const failed = (handshake: FailedHandshake): void => {
      subscriber.next({ kind: 'handshakeFailed', failed: handshake });
    };
    const server = serverOf(guard.tls, failed, {
      // The dispatcher checks the Host header, so that the exporter counts the refusal.
      requireHostHeader: false,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headerMs,
      requestTimeout: headerMs,
      connectionsCheckingInterval: Math.min(headerMs, MAX_CHECK_MS),
      keepAliveTimeout: IDLE_MS,
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
    answerUnreadable(server, (status) => {
      subscriber.next({ kind: 'unreadable', status });
    });
    // Each queued response adds listeners to its socket. Without this call, Node.js would warn of a leak.
    for (const event of ['connection', 'secureConnection'])
      server.on(event, (socket: Socket) => {
        socket.setMaxListeners(0);
      });
    const closeIdle = limitConnections(server, maxConnections, () => {
      subscriber.next({ kind: 'dropped' });
    });
    // A server listens at one address; forwarders pass it the connections of other addresses.
    const listeners = addresses.map((_, index) => (index === 0 ? server : forwarder(server)));
    listeners.forEach((each, index) => {
      const address = addresses[index] ?? { host: undefined, port: 0 };
      each.on('error', (error: Error) => {
        subscriber.error(listenFault(address, error));
      });
      listenAt(each, address, () => {
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
function answerUnreadable(server: Server, onAnswered: (status: Status) => void): void {
  const unfinished = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const responses = unfinished.get(socket) ?? new Set();
    unfinished.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  });
  const refuse = (socket: Socket, status: Status, text: string): void => {
    // If the server has sent only a part of an earlier response, the client would read the error text as the rest of
    // that response.
    const hasBegun = [...(unfinished.get(socket) ?? [])].some(({ headersSent }) => headersSent);
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

function serverOf(
  tls: GuardTls | undefined,
  onFailed: (handshake: FailedHandshake) => void,
  options: ServerOptions,
): Server {
  if (tls === undefined) return createServer(options);
  const { requestCert, rejectUnauthorized } = tls;
  const handshakeTimeout = options.headersTimeout;
  const server = createTlsServer({ ...options, requestCert, rejectUnauthorized, handshakeTimeout });
  // Set the context before the server accepts a connection, so that the connection gets a renewed certificate.
  server.prependListener('connection', (socket) => {
    useContext(server, tls.context());
    // Node.js reads the address at the first access, and then knows it also after the end of the connection.
    Reflect.get(socket, 'remoteAddress');
  });
  server.prependListener('secureConnection', (socket) => {
    const refusal = tls.certificateRefusal(socket);
    if (refusal === undefined) return;
    onFailed(refusedCertificate(socket, refusal));
    socket.destroy();
  });
  // The default listener of Node.js would emit the error again, as `clientError`.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error, socket) => {
    const handshake = failedHandshake(error, socket);
    if (handshake?.error === 'plain_http') rawSocket(socket)?.end(NO_TLS);
    if (handshake !== undefined) onFailed(handshake);
    socket.destroy();
  });
  return server;
}

/** The response to a request without TLS, with the same text as Go's HTTP server. */
const NO_TLS = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/**
 * Sets the context of new connections. `setSecureContext` of Node.js 20 to 26 ignores `allowPartialTrustChain`, so this
 * function sets the private field of the server instead. If a version of Node.js renames the field, every handshake
 * fails.
 */
function useContext(server: TlsServer, context: SecureContext): void {
  Object.assign(server, { _sharedCreds: context });
}

/**
 * Closes the connection if the response takes longer than `ms`. A socket timeout cannot stop a slow
 * reader: each byte restarts the timeout.
 */
export function deadline<T>(ms: number, socket: Socket): MonoTypeOperatorFunction<T> {
  return (response$) =>
    using(
      () => {
        const timer = setTimeout(() => socket.destroy(), ms);
        return new Subscription(() => {
          clearTimeout(timer);
        });
      },
      () => response$,
    );
}

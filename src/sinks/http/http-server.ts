// The HTTP server, with limits for connections and a deadline for each answer.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { Server as TlsServer, createServer as createTlsServer } from 'node:https';
import { createServer as createForwarder } from 'node:net';
import type { Server as NetServer, Socket } from 'node:net';
import { Observable, using } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Guard, GuardTls } from './admission.js';
import { boundAuthority, listenAt, listenFault } from './listen-address.js';
import type { ListenAddress } from './listen-address.js';

// Limits the connections of a server; idle ones make room for new ones.
type Key = Socket | string;

/**
 * Above `max`, closes the connection that has been idle for the longest time; that is the new one
 * if all others are being answered. A connection whose request is incomplete is idle.
 * @returns what closes all idle ones, those that never asked for anything too
 */
function limitConnections(server: Server, max: number, onDrop: () => void): () => void {
  const keyOf = server instanceof TlsServer ? tlsKeyOf : (socket: Socket): Key => socket;
  const open = new Map<Key, Socket>();
  /** Keys of those that are idle, the longest idle first. */
  const idle = new Set<Key>();
  const running = new Map<Key, number>();
  const forget = (key: Key) => {
    open.delete(key);
    idle.delete(key);
    running.delete(key);
  };
  const change = (key: Key, by: number) => {
    if (!open.has(key)) return;
    const requests = (running.get(key) ?? 0) + by;
    running.set(key, requests);
    if (requests > 0) idle.delete(key);
    else idle.add(key);
  };
  server.on('connection', (socket) => {
    const key = keyOf(socket);
    open.set(key, socket);
    idle.add(key);
    socket.once('close', () => {
      if (open.get(key) === socket) forget(key);
    });
    if (open.size <= max) return;
    const [longest = key] = idle;
    const dropped = open.get(longest);
    forget(longest);
    dropped?.destroy();
    onDrop();
  });
  server.on('request', ({ socket }, response) => {
    const key = keyOf(socket);
    change(key, 1);
    response.once('close', () => {
      change(key, -1);
    });
  });
  return () => {
    for (const key of idle) open.get(key)?.destroy();
  };
}

let unnamed = 0;
/** Those of connections that have no ports, as over a socket in the file system. */
const names = new WeakMap<Socket, string>();

/** What the socket of a connection shares with the one that TLS makes of it, and with no other. */
function tlsKeyOf(socket: Socket): string {
  const name = names.get(socket);
  if (name !== undefined) return name;
  const { localPort, remoteAddress, remotePort } = socket;
  if (remotePort !== undefined) return `${remoteAddress} ${remotePort} ${localPort}`;
  const made = `unnamed ${++unnamed}`;
  names.set(socket, made);
  return made;
}

export interface Exchange {
  readonly kind: 'exchange';
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
export interface Listening {
  readonly kind: 'listening';
  /** Scheme, host and bound port of its URLs, or words in place of them for a UNIX socket. */
  readonly origin: string;
}
/** A connection was closed to make room for another. */
interface Dropped {
  readonly kind: 'dropped';
}

export interface ListenerOptions {
  /** At least one. */
  readonly addresses: readonly ListenAddress[];
  readonly guard: Guard;
  /** How long a client may take to send a request. */
  readonly headerMs: number;
  /** The most bytes of the head of a request. */
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
}

/** Stands in the log for scheme and host, which a UNIX socket does not have. */
const UNIX_SOCKET = 'the UNIX socket of systemd, path ';
/** How long a connection may idle between requests. */
const IDLE_MS = 65_000;
/** How long a new connection has to send its request once the listener has closed. */
const GRACE_MS = 250;
/** How often Node looks for requests that take too long; its own default is 30 seconds. */
const MAX_CHECK_MS = 1000;

/**
 * Listens at all addresses while it is subscribed to; running responses are finished after that.
 * Errors with Fault LISTENER_FAILED when one cannot be used.
 */
export function listen(options: ListenerOptions): Observable<Exchange | Listening | Dropped> {
  const { addresses, guard, headerMs, maxHeaderBytes, maxConnections } = options;
  const scheme = guard.tls === undefined ? 'http' : 'https';
  return new Observable((subscriber) => {
    const server = serverOf(guard.tls, {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headerMs,
      requestTimeout: headerMs,
      connectionsCheckingInterval: Math.min(headerMs, MAX_CHECK_MS),
      keepAliveTimeout: IDLE_MS,
    });
    server.on('request', (request, response) => {
      // Bodies of requests are ignored, but an unread one would block the connection. Scrapes have none.
      if (hasBody(request)) request.resume();
      response.once('close', () => {
        // Connections that were busy when the listener closed become idle only now.
        if (!server.listening) setImmediate(() => server.closeIdleConnections());
      });
      if (subscriber.closed) turnAway(response);
      else subscriber.next({ kind: 'exchange', request, response });
    });
    // Every response that queues on a connection listens for its end.
    for (const event of ['connection', 'secureConnection'])
      server.on(event, (socket: Socket) => {
        socket.setMaxListeners(0);
      });
    const closeIdle = limitConnections(server, maxConnections, () => {
      subscriber.next({ kind: 'dropped' });
    });
    // A server listens once: what comes in at further addresses is handed to it.
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
      // Those that have not asked for anything may be about to.
      setTimeout(closeIdle, GRACE_MS).unref();
    };
  });
}

/** Answers 503 to a request that arrived, or waited for the guard, while the listener closed. */
export function turnAway(response: ServerResponse): void {
  const text = 'the exporter is ending\n';
  const length = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': text.length };
  response.writeHead(503, { ...length, Connection: 'close' }).end(text);
}

/** RFC 9112, 6.3. */
const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

const forwarder = (server: Server): NetServer =>
  createForwarder({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit('connection', socket);
  });

function serverOf(tls: GuardTls | undefined, options: ServerOptions): Server {
  if (tls === undefined) return createServer(options);
  let context = tls.context();
  const { requestCert, rejectUnauthorized } = tls;
  const server = createTlsServer({
    ...options,
    ...context,
    ...{ requestCert, rejectUnauthorized },
    handshakeTimeout: options.headersTimeout,
  });
  // Before the server sees the connection: a renewed certificate is used from the next one on.
  server.prependListener('connection', () => {
    const next = tls.context();
    if (next !== context) server.setSecureContext(next);
    context = next;
  });
  server.prependListener('secureConnection', (socket) => {
    if (!tls.isAuthorized(socket)) socket.destroy();
  });
  return server;
}

/**
 * Closes the connection if the response is not over after `ms`. A socket timeout restarts with
 * every byte, so it never ends a client that reads a little now and then.
 */
export function deadline<T>(ms: number, socket: Socket): MonoTypeOperatorFunction<T> {
  return (response$) =>
    using(
      () => {
        const timer = setTimeout(() => socket.destroy(), ms);
        return {
          unsubscribe: () => {
            clearTimeout(timer);
          },
        };
      },
      () => response$,
    );
}

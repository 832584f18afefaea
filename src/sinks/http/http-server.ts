// The HTTP listener as a stream of exchanges.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observable } from 'rxjs';
import { Fault } from '../../errors.js';
import { limitConnections } from './connection-limit.js';

export interface Exchange {
  readonly kind: 'exchange';
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}
export interface Listening {
  readonly kind: 'listening';
  /** As a URL has it, with the port that was taken. */
  readonly authority: string;
}
/** A connection was closed to make room for another. */
export interface Dropped {
  readonly kind: 'dropped';
}

export interface ListenerOptions {
  readonly address: string;
  readonly port: number;
  /** How long a client may take to send a request. */
  readonly headerMs: number;
  /** The most bytes of the head of a request. */
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
}

/** How long a connection may idle between requests. */
const IDLE_MS = 65_000;
/** How long a client may read nothing of its response. */
const STUCK_MS = 30_000;
/** How often Node looks for requests that take too long; its own default is 30 seconds. */
const MAX_CHECK_MS = 1000;

/**
 * Listens while it is subscribed to; running responses are finished after that.
 * Errors with Fault LISTENER_FAILED when the address cannot be used.
 */
export function listen(options: ListenerOptions): Observable<Exchange | Listening | Dropped> {
  const { address, port, headerMs, maxHeaderBytes, maxConnections } = options;
  return new Observable((subscriber) => {
    const server = createServer({
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headerMs,
      requestTimeout: headerMs,
      connectionsCheckingInterval: Math.min(headerMs, MAX_CHECK_MS),
      keepAliveTimeout: IDLE_MS,
    });
    server.on('request', (request, response) => {
      // Bodies of requests are ignored, but an unread one would block the connection.
      request.resume();
      response.setTimeout(STUCK_MS, () => response.destroy());
      response.once('close', () => {
        // Connections that were busy when the listener closed become idle only now.
        if (!server.listening) setImmediate(() => server.closeIdleConnections());
      });
      subscriber.next({ kind: 'exchange', request, response });
    });
    // Every response that queues on a connection listens for its end.
    server.on('connection', (socket) => socket.setMaxListeners(0));
    limitConnections(server, maxConnections, () => {
      subscriber.next({ kind: 'dropped' });
    });
    server.on('error', (error) => {
      const what = `Cannot listen on ${address}:${port}: ${error.message}`;
      subscriber.error(new Fault('LISTENER_FAILED', what, { cause: error }));
    });
    server.listen(port, address, () => {
      const bound = server.address();
      const actual = typeof bound === 'object' && bound !== null ? bound.port : port;
      subscriber.next({ kind: 'listening', authority: `${address}:${actual}` });
    });
    return () => {
      server.close();
      server.closeIdleConnections();
    };
  });
}

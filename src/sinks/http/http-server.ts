// The HTTP listener as a stream of exchanges.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observable } from 'rxjs';
import { Fault } from '../../errors.js';

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

/** Bounds in milliseconds: for a request's head, for an idle connection, for a stuck response. */
const HEAD_MS = 10_000;
const IDLE_MS = 65_000;
const STUCK_MS = 30_000;
const MOST_CONNECTIONS = 512;

/**
 * Listens while it is subscribed to; running responses are finished after that.
 * Errors with Fault LISTENER_FAILED when the address cannot be used.
 */
export function listen(address: string, port: number): Observable<Exchange | Listening> {
  return new Observable((subscriber) => {
    const server = createServer(
      { headersTimeout: HEAD_MS, requestTimeout: HEAD_MS, keepAliveTimeout: IDLE_MS },
      (request, response) => {
        // Nobody reads a request's body here; without this a sent one would hold the connection.
        request.resume();
        response.setTimeout(STUCK_MS, () => response.destroy());
        response.once('close', () => {
          // Only now is a connection idle that was busy when the listener closed.
          if (!server.listening) setImmediate(() => server.closeIdleConnections());
        });
        subscriber.next({ kind: 'exchange', request, response });
      },
    );
    // Every response that queues on a connection listens for its end.
    server.on('connection', (socket) => socket.setMaxListeners(0));
    server.maxConnections = MOST_CONNECTIONS;
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

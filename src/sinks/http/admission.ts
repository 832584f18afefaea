// Limits the number of concurrent requests, and defines `Guard`, which authorizes clients.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { EMPTY, Subscription, asyncScheduler, defer, of, using } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { limitConcurrency } from '../../limit-concurrency.js';
import type { CertificateRefusal } from './handshake-error.js';
import type { HeaderFields, Reply } from './reply.js';
import type { DispatchedRequest } from './dispatch.js';

type RequestKind = DispatchedRequest['kind'];

/** A connection sends its responses in order. While it sends one response, the exporter prepares the next. */
const MAX_RUNNING_PER_CONNECTION = 2;
/** The maximum number of running and waiting requests of a connection. A client that reads its responses has fewer. */
const MAX_REQUESTS_PER_CONNECTION = 64;

/** The longest time that a request waits for a permit. After that time the exporter refuses the request. */
const MAX_WAIT_MS = 1000;

/** Makes the response to a request. `refusal` is the error text if the request is refused. */
type AdmittedAnswer<T> = (refusal?: string) => Observable<T>;

interface Connection {
  requests: number;
  readonly limited: ReturnType<typeof limitConcurrency>;
}

/**
 * Makes a function that answers requests, and refuses requests that exceed the limits.
 * @param max the maximum number of concurrent requests of each kind, so that slow scrapes do not block probes
 * @param responseMs the time after which the server closes the connection of an unanswered request
 */
export function admission(
  max: Readonly<Record<RequestKind, number>>,
  responseMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): <T>(socket: Socket, kind: RequestKind, answer: AdmittedAnswer<T>) => Observable<T> {
  const wait = { maxWaitMs: MAX_WAIT_MS, scheduler };
  const limited = {
    scrape: limitConcurrency(max.scrape, wait),
    page: limitConcurrency(max.page, wait),
  };
  const connections = new WeakMap<Socket, Connection>();
  const newConnection = (): Connection => ({
    requests: 0,
    limited: limitConcurrency(MAX_RUNNING_PER_CONNECTION, { maxWaitMs: responseMs, scheduler }),
  });
  return (socket, kind, answer) => {
    const connection = connections.get(socket) ?? newConnection();
    connections.set(socket, connection);
    return defer(() => {
      if (connection.requests >= MAX_REQUESTS_PER_CONNECTION)
        return answer('too many requests at once on one connection');
      return using(
        () => countedRequest(connection),
        () =>
          defer(() => answer()).pipe(
            limited[kind](defer(() => answer(`too many ${kind}s at once`))),
            connection.limited(EMPTY),
          ),
      );
    });
  };
}

function countedRequest(connection: Connection): Subscription {
  connection.requests++;
  return new Subscription(() => {
    connection.requests--;
  });
}

/** The TLS settings of a listener and its check of client certificates. */
export interface GuardTls {
  /** Whether the server requests a client certificate, and whether it requires a valid one. */
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  /** The secure context of the next connection. */
  readonly context: () => SecureContext;
  /** Why the server closes a connection after its handshake; undefined to keep it. */
  readonly certificateRefusal: (socket: TLSSocket) => CertificateRefusal | undefined;
}

/** Authorizes the clients of a listener. */
export interface Guard {
  /** The TLS settings; undefined for plain HTTP. */
  readonly tls: GuardTls | undefined;
  /** Whether the guard admits only clients with a valid password or certificate. */
  readonly authenticatesClients: () => boolean;
  /** The headers of every response. */
  readonly headers: () => HeaderFields;
  /** Emits the error reply, or undefined to admit the request. */
  readonly refusal: (request: IncomingMessage) => Observable<Reply | undefined>;
}

/** Admits all clients. */
export const NO_GUARD: Guard = {
  tls: undefined,
  authenticatesClients: () => false,
  headers: () => ({}),
  refusal: () => of(undefined),
};

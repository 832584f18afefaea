// Admits requests: who may ask, and how many are answered at once.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { Subject, filter, map, merge, mergeMap, take, timer, using } from 'rxjs';
import type { Observable, SchedulerLike, Unsubscribable } from 'rxjs';
import { limitConcurrency } from './limit-concurrency.js';
import type { HeaderFields, Reply } from './reply.js';
import type { Requested } from './requested.js';

type RequestKind = Requested['kind'];

/** Responses of one connection are sent in order: while one is sent, the next is prepared. */
const MAX_RUNNING_PER_CONNECTION = 2;
/** Including those that wait; no client that reads its responses sends more in one go. */
const MAX_REQUESTS_PER_CONNECTION = 64;

/** How long a request waits for one of too many to be over, before it is refused. */
const MAX_WAIT_MS = 1000;

/** Makes the response to a request, or the refusal with this text. */
type AdmittedAnswer<T> = (refusal?: string) => Observable<T>;

interface Connection {
  requests: number;
  readonly limited: <T>(answer$: Observable<T>) => Observable<T>;
}

/** @param max limits in total, one for each kind, so that slow scrapes do not block probes */
export function admission(
  max: Readonly<Record<RequestKind, number>>,
  scheduler?: SchedulerLike,
): <T>(socket: Socket, kind: RequestKind, answer: AdmittedAnswer<T>) => Observable<T> {
  const running: Record<RequestKind, number> = { scrape: 0, page: 0 };
  const over$ = new Subject<RequestKind>();
  const connections = new WeakMap<Socket, Connection>();
  const hasRoom = (kind: RequestKind): boolean => running[kind] < max[kind];
  const takePlace = (kind: RequestKind): Unsubscribable => {
    running[kind]++;
    return {
      unsubscribe: () => {
        running[kind]--;
        over$.next(kind);
      },
    };
  };
  /** Emits once, whether there is room now: in the order in which they asked, or too late. */
  const room$ = (kind: RequestKind): Observable<boolean> =>
    merge(
      over$.pipe(filter((of) => of === kind && hasRoom(kind))),
      timer(MAX_WAIT_MS, scheduler),
    ).pipe(
      take(1),
      map(() => hasRoom(kind)),
    );
  const admitted = <T>(kind: RequestKind, answer: AdmittedAnswer<T>): Observable<T> =>
    using(
      () => (hasRoom(kind) ? takePlace(kind) : undefined),
      (place) =>
        place !== undefined
          ? answer()
          : room$(kind).pipe(
              mergeMap((isFree) =>
                isFree
                  ? using(
                      () => takePlace(kind),
                      () => answer(),
                    )
                  : answer(`too many ${kind}s at once`),
              ),
            ),
    );
  return (socket, kind, answer) => {
    const connection = connections.get(socket) ?? newConnection();
    connections.set(socket, connection);
    return using(
      () => (connection.requests < MAX_REQUESTS_PER_CONNECTION ? takeIn(connection) : undefined),
      (request) =>
        request !== undefined
          ? admitted(kind, answer).pipe(connection.limited)
          : answer('too many requests at once on one connection'),
    );
  };
}

function takeIn(connection: Connection): Unsubscribable {
  connection.requests++;
  return {
    unsubscribe: () => {
      connection.requests--;
    },
  };
}

const newConnection = (): Connection => ({
  requests: 0,
  limited: limitConcurrency(MAX_RUNNING_PER_CONNECTION),
});

// Who may connect, and who may ask.
export interface GuardTls {
  /** Whether clients are asked for a certificate, and whether those without a valid one are ended. */
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  /** For the next connection; another object when it changed. */
  readonly context: () => SecureContextOptions;
  /** Whether a client that completed the handshake may go on. */
  readonly isAuthorized: (socket: TLSSocket) => boolean;
}

export interface Guard {
  /** Undefined for plain HTTP. */
  readonly tls: GuardTls | undefined;
  /** Whether every client that is let in has shown who it is. */
  readonly authenticatesClients: () => boolean;
  /** Of every answer. */
  readonly headers: () => HeaderFields;
  /** Emits once: the refusal of a request, or undefined. Undefined itself where everybody may ask. */
  readonly refusal: ((request: IncomingMessage) => Observable<Reply | undefined>) | undefined;
}

/** Lets everybody in. */
export const NO_GUARD: Guard = {
  tls: undefined,
  authenticatesClients: () => false,
  headers: () => ({}),
  refusal: undefined,
};

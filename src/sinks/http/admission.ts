// Limits how many requests are answered at once, in total and for each connection.
import type { Socket } from 'node:net';
import { defer, finalize } from 'rxjs';
import type { Observable } from 'rxjs';
import { limitConcurrency } from './limit-concurrency.js';
import type { Requested } from './requested.js';

type Kind = Requested['kind'];

/** Responses of one connection are sent in order: while one is sent, the next is prepared. */
const MAX_RUNNING_PER_CONNECTION = 2;
/** Including those that wait; no client that reads its responses sends more in one go. */
const MAX_REQUESTS_PER_CONNECTION = 64;

/** Makes the response to a request, or the refusal with this text. */
type Answer<T> = (refusal?: string) => Observable<T>;

interface Connection {
  requests: number;
  readonly limited: <T>(answer$: Observable<T>) => Observable<T>;
}

/** @param max limits in total, one for each kind, so that slow scrapes do not block probes */
export function admission(
  max: Readonly<Record<Kind, number>>,
): <T>(socket: Socket, kind: Kind, answer: Answer<T>) => Observable<T> {
  const running: Record<Kind, number> = { scrape: 0, page: 0 };
  const connections = new WeakMap<Socket, Connection>();
  const admitted = <T>(kind: Kind, answer: Answer<T>): Observable<T> =>
    defer(() => {
      if (running[kind] >= max[kind]) return answer(`too many ${kind}s at once`);
      running[kind]++;
      return answer().pipe(
        finalize(() => {
          running[kind]--;
        }),
      );
    });
  return (socket, kind, answer) =>
    defer(() => {
      const connection = connections.get(socket) ?? newConnection();
      connections.set(socket, connection);
      if (connection.requests >= MAX_REQUESTS_PER_CONNECTION)
        return answer('too many requests at once on one connection');
      connection.requests++;
      return admitted(kind, answer).pipe(
        connection.limited,
        finalize(() => {
          connection.requests--;
        }),
      );
    });
}

const newConnection = (): Connection => ({
  requests: 0,
  limited: limitConcurrency(MAX_RUNNING_PER_CONNECTION),
});

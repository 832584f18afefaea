// Bounds how many requests are answered at once: of all clients together, and of each connection.
import type { Socket } from 'node:net';
import { defer, finalize } from 'rxjs';
import type { Observable } from 'rxjs';
import { limitConcurrency } from './limit-concurrency.js';
import type { Requested } from './requested.js';

type Kind = Requested['kind'];

/** Answers of one connection go out in order: one is sent, the next may be made meanwhile. */
const MAX_RUNNING_PER_CONNECTION = 2;
/** With those that wait behind them; clients that send more in one go read no answers. */
const MAX_REQUESTS_PER_CONNECTION = 64;

/** Makes an answer, or the refusal with that text. */
type Answer<T> = (refusal?: string) => Observable<T>;

interface Connection {
  requests: number;
  readonly limited: <T>(answer$: Observable<T>) => Observable<T>;
}

/** @param max the bounds of each kind for all clients together, so that slow scrapes keep no probe out */
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

// Limits the number of concurrent requests.
import type { Socket } from 'node:net';
import { EMPTY, asyncScheduler, defer, finalize } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';
import { limitConcurrency } from '../../limit-concurrency.js';

/** A connection sends its responses in order. While it sends one response, the exporter prepares the next. */
const MAX_RUNNING_PER_CONNECTION = 2;
/** The maximum number of running and waiting requests of a connection. A client that reads its responses has fewer. */
const MAX_REQUESTS_PER_CONNECTION = 64;

/** The longest time that a request waits for other requests. After that time the exporter refuses the request. */
const MAX_WAIT_MS = 1000;

/** Makes the response to a request. `refusal` is the error text if the request is refused. */
type Answer<T> = (refusal?: string) => Observable<T>;

/**
 * Makes a function that answers requests, and refuses requests that exceed the limits.
 * @param max the maximum numbers of concurrent requests: separate, so that slow scrapes do not block probes
 * @param responseMs the time after which the server closes the connection of an unanswered request
 */
export function admission(
  max: { readonly scrapes: number; readonly others: number },
  responseMs: number,
  scheduler: SchedulerLike = asyncScheduler,
): <T>(socket: Socket, isScrape: boolean, answer: Answer<T>) => Observable<T> {
  const wait = { maxWaitMs: MAX_WAIT_MS, scheduler };
  const scrapes = limitConcurrency(max.scrapes, wait);
  const others = limitConcurrency(max.others, wait);
  const newConnection = () => ({
    requests: 0,
    limited: limitConcurrency(MAX_RUNNING_PER_CONNECTION, { maxWaitMs: responseMs, scheduler }),
  });
  const connections = new WeakMap<Socket, ReturnType<typeof newConnection>>();
  return (socket, isScrape, answer) =>
    defer(() => {
      const connection = connections.get(socket) ?? newConnection();
      connections.set(socket, connection);
      if (connection.requests >= MAX_REQUESTS_PER_CONNECTION)
        return answer('too many requests at once on one connection');
      connection.requests++;
      const refused$ = defer(() => answer(`too many ${isScrape ? 'scrapes' : 'requests'} at once`));
      return defer(() => answer()).pipe(
        (isScrape ? scrapes : others)(refused$),
        connection.limited(EMPTY),
        finalize(() => {
          connection.requests--;
        }),
      );
    });
}

// Says from time to time that a publisher lives.
import { EMPTY, ignoreElements, interval, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Publisher } from './publisher.js';

/** Beats as often as the publisher's segment promises; emits nothing and never ends. */
export function heartbeat(publisher: Publisher): Observable<never> {
  if (publisher.heartbeatMs === 0) return EMPTY;
  return interval(publisher.heartbeatMs).pipe(
    tap(() => {
      publisher.beat();
    }),
    ignoreElements(),
  );
}

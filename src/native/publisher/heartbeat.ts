// An observable that writes the heartbeat of a publisher.
import { EMPTY, ignoreElements, interval, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Publisher } from './publisher.js';

/**
 * Writes a heartbeat at the interval that the publisher's segment declares; emits nothing and never completes.
 */
export function heartbeat(publisher: Publisher): Observable<never> {
  if (publisher.heartbeatMs === 0) return EMPTY;
  return interval(publisher.heartbeatMs).pipe(
    tap(() => {
      publisher.heartbeat();
    }),
    ignoreElements(),
  );
}

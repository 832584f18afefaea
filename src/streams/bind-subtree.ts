// Binds the objects and variables below a root in slices, so that nothing else has to wait.
import { EMPTY, asyncScheduler, defer, expand, map, of, timer } from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

export interface Bound {
  readonly kind: 'bound';
  readonly hasMore: boolean;
}

/** Emits after each slice; `bindMore` binds one and says whether there is another. */
export function bindSubtree(
  bindMore: () => boolean,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Bound> {
  const slice = (): Bound => ({ kind: 'bound', hasMore: bindMore() });
  return defer(() => of(slice())).pipe(
    expand(({ hasMore }) => (hasMore ? timer(0, scheduler).pipe(map(slice)) : EMPTY)),
  );
}

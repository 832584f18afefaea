// Binds the objects and variables below a root in slices, so that nothing else has to wait.
import {
  EMPTY,
  Subject,
  asyncScheduler,
  defer,
  expand,
  finalize,
  map,
  merge,
  of,
  repeat,
  switchMap,
  take,
  timer,
} from 'rxjs';
import type { Observable, SchedulerLike } from 'rxjs';

export interface Bound {
  readonly kind: 'bound';
  readonly hasMore: boolean;
}

/** Calls back whenever there is more to bind again; returns what ends that. */
export type WhenMore = (wake: () => void) => () => void;

/**
 * Emits after each slice; `bindMore` binds one and says whether there is another. It completes with
 * the last, unless `whenMore` can tell of more later: then it goes on for as long as it is heard.
 */
export function bindSubtree(
  bindMore: () => boolean,
  scheduler: SchedulerLike = asyncScheduler,
  whenMore?: WhenMore,
): Observable<Bound> {
  const slice = (): Bound => ({ kind: 'bound', hasMore: bindMore() });
  const slices$ = defer(() => of(slice())).pipe(
    expand(({ hasMore }) => (hasMore ? timer(0, scheduler).pipe(map(slice)) : EMPTY)),
  );
  return whenMore === undefined ? slices$ : again(slices$, whenMore, scheduler);
}

/** Starts anew whenever it is woken, in a turn of its own. */
const again = (
  slices$: Observable<Bound>,
  whenMore: WhenMore,
  scheduler: SchedulerLike,
): Observable<Bound> =>
  defer(() => {
    const woken$ = new Subject<void>();
    // Whoever hears of the last slice may bring more before that is over.
    let isWoken = false;
    const end = whenMore(() => {
      isWoken = true;
      woken$.next();
    });
    const delay = () =>
      merge(isWoken ? of(undefined) : EMPTY, woken$).pipe(
        take(1),
        switchMap(() => timer(0, scheduler)),
      );
    const counted$ = defer(() => {
      isWoken = false;
      return slices$;
    });
    return counted$.pipe(repeat({ delay }), finalize(end));
  });

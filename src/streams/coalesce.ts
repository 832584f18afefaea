// Decides for each demand and each change whether to render now, later, or not at all. Spec 1.9.
import { EMPTY, asyncScheduler, concat, defer, filter, map, mergeMap, of, tap, timer } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';

/** What arrives: a demand for the text, or a change notification. */
export interface Arrival {
  readonly kind: 'demand' | 'change';
  readonly isReady: boolean;
  /** Whether the text would differ from the last render. */
  readonly isDirty: boolean;
}

/** What to do: render anew, serve the last render, or say that there is nothing to serve yet. */
export interface Decision<E> {
  readonly action: 'render' | 'serve' | 'wait';
  /** What arrived; undefined for a render that was deferred. */
  readonly arrival: E | undefined;
}

/**
 * Keeps renders for demands at least `spacingMs` apart: inside the spacing a demand gets the last
 * render, and one render is deferred to its end. With spacing 0 every change renders. Without a
 * demand nothing renders.
 * @param now milliseconds of a clock that does not step; a scheduler's own is the wall clock
 */
export function coalesce<E extends Arrival>(
  spacingMs: number,
  scheduler: SchedulerLike = asyncScheduler,
  now: () => number = () => scheduler.now(),
): OperatorFunction<E, Decision<E>> {
  return (arrival$) =>
    defer(() => {
      let renderedAt = -Infinity;
      let isDeferred = false;
      const render = (arrival: E | undefined): Decision<E> => {
        renderedAt = now();
        return { action: 'render', arrival };
      };
      const deferred = (dueMs: number): Observable<Decision<E>> => {
        isDeferred = true;
        const before = renderedAt;
        return timer(dueMs, scheduler).pipe(
          tap(() => {
            isDeferred = false;
          }),
          // A late timer may find that a demand was faster.
          filter(() => renderedAt === before),
          map(() => render(undefined)),
        );
      };
      const decide = (arrival: E): Observable<Decision<E>> => {
        const isDemand = arrival.kind === 'demand';
        const answer = (action: 'wait' | 'serve') => (isDemand ? of({ action, arrival }) : EMPTY);
        if (!arrival.isReady) return answer('wait');
        if (!arrival.isDirty) return answer('serve');
        if (!isDemand) return spacingMs === 0 ? of(render(arrival)) : EMPTY;
        const dueMs = renderedAt + spacingMs - now();
        if (dueMs <= 0) return of(render(arrival));
        return isDeferred ? answer('serve') : concat(answer('serve'), deferred(dueMs));
      };
      return arrival$.pipe(mergeMap(decide));
    });
}

// Decides for each demand and each change whether to render now, later, or not at all. Spec 1.9.
import { asyncScheduler, defer, filter, map, switchMap, timer } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';

/** What a decision needs to know of what arrived. */
export interface Arrival {
  /** A demand for the text, a render that was deferred and is due, or anything else: a change. */
  readonly kind: 'demand' | 'due' | 'change';
  /** Milliseconds since the last render of a predecessor, where its text goes on being served. */
  readonly adoptedAgeMs?: number | undefined;
  readonly isReady: boolean;
  /** Whether the text would differ from the last render. */
  readonly isDirty: boolean;
}

/** What to do: render anew, serve the last render, say that there is nothing to serve, or nothing. */
export interface Decision<E> {
  readonly action: 'render' | 'serve' | 'wait' | 'rest';
  readonly arrival: E;
  /** A render is owed in so many milliseconds. */
  readonly dueMs?: number;
  /** Milliseconds since the last render; undefined before the first. */
  readonly sinceRenderMs: number | undefined;
}

/**
 * Keeps renders for demands at least `spacingMs` apart: inside the spacing a demand gets the last
 * render, and one render is deferred to its end. With spacing 0 every change renders. Without a
 * demand nothing renders.
 * @param now milliseconds of a clock that does not step
 */
export function coalesce<E extends Arrival>(
  spacingMs: number,
  now: () => number,
): OperatorFunction<E, Decision<E>> {
  return (arrival$) =>
    defer(() => {
      let renderedAt = -Infinity;
      /** The render that the deferred one follows, while one is owed. */
      let deferredAfter: number | undefined;
      const act = (
        { kind, isReady, isDirty }: E,
        nowMs: number,
      ): Pick<Decision<E>, 'action' | 'dueMs'> => {
        // A late timer may find that a demand was faster.
        const isFirst = kind === 'due' && deferredAfter === renderedAt;
        if (kind === 'due') deferredAfter = undefined;
        const isDemand = kind === 'demand';
        if (!isReady) return { action: isDemand ? 'wait' : 'rest' };
        if (!isDirty) return { action: isDemand ? 'serve' : 'rest' };
        if (!isDemand) return { action: isFirst || spacingMs === 0 ? 'render' : 'rest' };
        const dueMs = renderedAt + spacingMs - nowMs;
        if (dueMs <= 0) return { action: 'render' };
        if (deferredAfter !== undefined) return { action: 'serve' };
        deferredAfter = renderedAt;
        return { action: 'serve', dueMs };
      };
      return arrival$.pipe(
        map((arrival): Decision<E> => {
          const nowMs = now();
          if (arrival.adoptedAgeMs !== undefined) renderedAt = nowMs - arrival.adoptedAgeMs;
          const acted = act(arrival, nowMs);
          if (acted.action === 'render') renderedAt = nowMs;
          const sinceRenderMs = renderedAt === -Infinity ? undefined : nowMs - renderedAt;
          return { ...acted, arrival, sinceRenderMs };
        }),
      );
    });
}

/** A deferred render that is due. */
export const DUE = { kind: 'due' } as const;

/** Emits when the render that a decision deferred is due. */
export const whenDue = (
  decision$: Observable<Decision<unknown>>,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<typeof DUE> =>
  decision$.pipe(
    filter(({ dueMs }) => dueMs !== undefined),
    switchMap(({ dueMs = 0 }) => timer(dueMs, scheduler).pipe(map(() => DUE))),
  );

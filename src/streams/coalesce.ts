// Decides for each demand and each change whether to render now, later, or not at all. Spec 1.9.
import { asyncScheduler, defer, filter, map, switchMap, timer } from 'rxjs';
import type { Observable, OperatorFunction, SchedulerLike } from 'rxjs';
import type { Handover } from './order.js';

/** What a decision needs to know of what arrived. */
export interface Arrival {
  /** A demand for the text, a render that was deferred and is due, or anything else: a change. */
  readonly kind: 'demand' | 'due' | 'change';
  /** How a predecessor left it, whose text goes on being served. */
  readonly adopted?: Pick<Handover, 'sinceRenderMs' | 'owesRender'> | undefined;
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
  /** Whether a deferred render is still to come. */
  readonly owesRender: boolean;
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
      type Act = Pick<Decision<E>, 'action' | 'dueMs'>;
      const deferRender = (action: Act['action'], nowMs: number): Act => {
        deferredAfter = renderedAt;
        return { action, dueMs: Math.max(0, renderedAt + spacingMs - nowMs) };
      };
      const act = ({ kind, isReady, isDirty, adopted }: E, nowMs: number): Act => {
        // A late timer may find that a demand was faster.
        const isFirst = kind === 'due' && deferredAfter === renderedAt;
        if (kind === 'due') deferredAfter = undefined;
        if (adopted?.owesRender === true) return deferRender('rest', nowMs);
        const isDemand = kind === 'demand';
        if (!isReady) return { action: isDemand ? 'wait' : 'rest' };
        if (!isDirty) return { action: isDemand ? 'serve' : 'rest' };
        if (!isDemand) return { action: isFirst || spacingMs === 0 ? 'render' : 'rest' };
        if (nowMs - renderedAt >= spacingMs) return { action: 'render' };
        return deferredAfter === undefined ? deferRender('serve', nowMs) : { action: 'serve' };
      };
      return arrival$.pipe(
        map((arrival): Decision<E> => {
          const nowMs = now();
          const adoptedMs = arrival.adopted?.sinceRenderMs;
          if (adoptedMs !== undefined) renderedAt = nowMs - adoptedMs;
          const acted = act(arrival, nowMs);
          if (acted.action === 'render') renderedAt = nowMs;
          const sinceRenderMs = renderedAt === -Infinity ? undefined : nowMs - renderedAt;
          return { ...acted, arrival, sinceRenderMs, owesRender: deferredAfter === renderedAt };
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

// Decides when a target is refreshed, and whether that refresh may render. Spec 1.9.
import { EMPTY, asyncScheduler, defer, expand, map, timer } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { RefreshReport, Report } from './report.js';
import type { Refresh } from './target-inputs.js';

/** A request for a page, from a scrape or from a sink that prints. */
export interface Demand {
  readonly kind: 'demand';
}

/** The output for a demand, a report, or the end of a delay. */
export interface ThrottleOutput {
  readonly report?: Report;
  /** The command to send now. */
  readonly refresh?: Refresh;
  /** A render to start after a delay. */
  readonly delayed?: DelayedRender;
}

interface DelayedRender {
  readonly ms: number;
}

/**
 * Keeps renders at least `renderMinIntervalMs` apart. One refresh is open at a time; demands during that refresh
 * share the next one. A demand within the interval gets the last render, and one render is delayed to the end of
 * the interval. With interval 0 every change renders; otherwise only demands cause renders.
 * @param nowMs milliseconds of a monotonic clock
 */
export const throttleRenders =
  (
    renderMinIntervalMs: () => number,
    nowMs: () => number,
    scheduler: SchedulerLike = asyncScheduler,
  ): OperatorFunction<Demand | Report, ThrottleOutput> =>
  (input$) =>
    defer(() => {
      const state = new RenderThrottle(renderMinIntervalMs, nowMs);
      return input$.pipe(
        map((input) => (input.kind === 'demand' ? state.demand() : state.report(input))),
        expand(({ delayed }) =>
          delayed === undefined
            ? EMPTY
            : timer(delayed.ms, scheduler).pipe(map(() => state.endDelay(delayed))),
        ),
      );
    });

class RenderThrottle {
  readonly #renderMinIntervalMs: () => number;
  readonly #nowMs: () => number;
  #renderedAt = -Infinity;
  #isRefreshOpen = false;
  #isDemanded = false;
  /** Whether to render without a demand: after a delay, or after a change with interval 0. */
  #isRenderDue = false;
  /** The pending delayed render. */
  #delayed: DelayedRender | undefined;

  constructor(renderMinIntervalMs: () => number, nowMs: () => number) {
    this.#renderMinIntervalMs = renderMinIntervalMs;
    this.#nowMs = nowMs;
  }

  demand(): ThrottleOutput {
    this.#isDemanded = true;
    return this.#next();
  }

  /** Starts the delayed render, unless another render has replaced it. */
  endDelay(delayed: DelayedRender): ThrottleOutput {
    if (delayed !== this.#delayed) return {};
    this.#delayed = undefined;
    this.#isRenderDue = true;
    return this.#next();
  }

  report(report: Report): ThrottleOutput {
    switch (report.kind) {
      case 'changed':
        this.#isRenderDue ||= this.#renderMinIntervalMs() === 0;
        return { report, ...this.#next() };
      case 'refreshed':
        return { report, ...this.#refreshed(report) };
      case 'state':
      case 'switched':
        if (!report.state.isReady) this.#reset();
        return { report };
      case 'failed':
        this.#reset();
        this.#isRefreshOpen = this.#isDemanded = false;
        return { report };
      default:
        return { report };
    }
  }

  #refreshed({ state: { isReady }, isDirty, hasRendered }: RefreshReport): ThrottleOutput {
    this.#isRefreshOpen = false;
    if (!isReady) this.#reset();
    else if (hasRendered) this.#rendered();
    // The target became ready during the refresh. There is no last render to serve, so refresh again.
    else if (isDirty && this.#renderedAt === -Infinity) this.#isDemanded = true;
    const next = this.#next();
    const isPending = isReady && isDirty && this.#delayed === undefined;
    return isPending && next.refresh?.mayRender !== true
      ? { ...next, delayed: this.#delay() }
      : next;
  }

  #rendered(): void {
    this.#renderedAt = this.#nowMs();
    this.#delayed = undefined;
    // With interval 0, a change during the refresh needs another render.
    if (this.#renderMinIntervalMs() > 0) this.#isRenderDue = false;
  }

  /** Cancels the delayed render; the last render is not served again. */
  #reset(): void {
    this.#renderedAt = -Infinity;
    this.#delayed = undefined;
    this.#isRenderDue = false;
  }

  #next(): ThrottleOutput {
    if (this.#isRefreshOpen || !(this.#isDemanded || this.#isRenderDue)) return {};
    const isAllowed = this.#nowMs() - this.#renderedAt >= this.#renderMinIntervalMs();
    const mayRender = this.#isRenderDue || isAllowed;
    this.#isRefreshOpen = true;
    this.#isDemanded = this.#isRenderDue = false;
    return { refresh: { kind: 'refresh', mayRender } };
  }

  #delay(): DelayedRender {
    const ms = Math.max(0, this.#renderedAt + this.#renderMinIntervalMs() - this.#nowMs());
    return (this.#delayed = { ms });
  }
}

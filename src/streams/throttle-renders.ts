// Decides when a target is refreshed, and whether that refresh may render. Spec 1.9.
import { EMPTY, asyncScheduler, defer, expand, filter, map, of, timer } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { RefreshReport, Report } from './report.js';

/** A request for a page, from a scrape or from a sink that prints. */
export interface Demand {
  readonly kind: 'demand';
}

/** What follows from a demand, a report, or the end of a delay. */
interface ThrottleOutput {
  readonly report?: Report | undefined;
  /** Whether the refresh to start may render; undefined if none is to start. */
  readonly mayRender?: boolean | undefined;
  /** A render to start after a delay. */
  readonly delayed?: DelayedRender | undefined;
}

interface DelayedRender {
  readonly ms: number;
}

/**
 * Calls `refresh` for demands. Keeps renders at least `renderMinIntervalMs` apart. One refresh is open at a time;
 * demands during that refresh share the next one. If another hosting begins to serve meanwhile, calls `refresh` again,
 * for that hosting. A demand within the interval gets the last render, and one render
 * is delayed to the end of the interval. With interval 0, each change causes a render; otherwise only demands do.
 * Emits all reports.
 * @param refresh starts a refresh; returns false if it cannot start. A report `refreshed` or `failed` ends it
 * @param nowMs milliseconds of a monotonic clock
 */
export const throttleRenders =
  (
    refresh: (mayRender: boolean) => boolean,
    renderMinIntervalMs: () => number,
    nowMs: () => number,
    scheduler: SchedulerLike = asyncScheduler,
  ): OperatorFunction<Demand | Report, Report> =>
  (input$) =>
    defer(() => {
      const throttle = new RenderThrottle(renderMinIntervalMs, nowMs);
      return input$.pipe(
        map((input) => (input.kind === 'demand' ? throttle.demand() : throttle.report(input))),
        expand(({ mayRender, delayed }) => {
          if (mayRender !== undefined && !refresh(mayRender)) return of(throttle.endRefresh());
          if (delayed === undefined) return EMPTY;
          return timer(delayed.ms, scheduler).pipe(map(() => throttle.endDelay(delayed)));
        }),
        map(({ report }) => report),
        filter((report) => report !== undefined),
      );
    });

class RenderThrottle {
  readonly #renderMinIntervalMs: () => number;
  readonly #nowMs: () => number;
  #renderedAt = -Infinity;
  /** Whether the open refresh may render; undefined if no refresh is open. */
  #open: boolean | undefined;
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
    if ('state' in report && !report.state.isReady) this.#reset();
    if (report.kind === 'refreshed') return this.#endRefreshed(report);
    if (report.kind === 'failed') return { report, ...this.endRefresh() };
    if (report.kind === 'switched') return { report, ...this.#repeat() };
    if (report.kind !== 'changed') return { report };
    this.#isRenderDue ||= this.#renderMinIntervalMs() === 0;
    return { report, ...this.#next() };
  }

  /** Ends a refresh that failed; starts the next one. */
  endRefresh(): ThrottleOutput {
    this.#open = undefined;
    return this.#next();
  }

  /**
   * Repeats the open refresh, since another hosting now serves the target. The repeated refresh also answers the
   * demands that came meanwhile, so whether it may render depends on the time of its start.
   */
  #repeat(): ThrottleOutput {
    if (this.#open === undefined) return {};
    this.#isRenderDue ||= this.#open;
    this.#isDemanded = true;
    this.#open = undefined;
    return this.#next();
  }

  /** Starts the next refresh, or delays a render. */
  #endRefreshed(report: RefreshReport): ThrottleOutput {
    this.#open = undefined;
    const isDirty = report.state.isReady && report.isDirty;
    if (report.hasRendered) {
      this.#renderedAt = this.#nowMs();
      this.#delayed = undefined;
      // With interval 0, a change during the refresh needs another render.
      if (this.#renderMinIntervalMs() > 0) this.#isRenderDue = false;
    }
    // The target became ready during the refresh. There is no last render to serve, so refresh again.
    else if (isDirty && this.#renderedAt === -Infinity) this.#isDemanded = true;
    const next = this.#next();
    if (!isDirty || next.mayRender === true || this.#delayed !== undefined)
      return { report, ...next };
    const ms = Math.max(0, this.#renderedAt + this.#renderMinIntervalMs() - this.#nowMs());
    return { report, ...next, delayed: (this.#delayed = { ms }) };
  }

  /** Cancels the delayed render; the last render is not served again. */
  #reset(): void {
    this.#renderedAt = -Infinity;
    this.#delayed = undefined;
    this.#isRenderDue = false;
  }

  #next(): ThrottleOutput {
    if (this.#open !== undefined || !(this.#isDemanded || this.#isRenderDue)) return {};
    const isAllowed = this.#nowMs() - this.#renderedAt >= this.#renderMinIntervalMs();
    const mayRender = this.#isRenderDue || isAllowed;
    this.#open = mayRender;
    this.#isDemanded = this.#isRenderDue = false;
    return { mayRender };
  }
}

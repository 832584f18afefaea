// Decides when a target is refreshed, and whether that refresh may render. Spec 1.9.
import { EMPTY, asyncScheduler, defer, expand, map, timer } from 'rxjs';
import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { RefreshReport, Report } from './report.js';
import type { Refresh } from './target-inputs.js';

/** A client waits for a page. */
export interface Demand {
  readonly kind: 'demand';
}

/** The consequences of a demand, of a report, or of the end of a deferral. */
export interface Decision {
  readonly report?: Report;
  /** The command to send now. */
  readonly refresh?: Refresh;
  /** A render that was put off. */
  readonly delayed?: DelayedRender;
}

interface DelayedRender {
  readonly ms: number;
}

/**
 * Keeps renders at least `minRenderIntervalMs` apart. One refresh is open at a time; demands that come
 * meanwhile share the next. A demand inside the spacing gets the last render, and one render is
 * deferred to its end. With spacing 0 every change renders. Without a demand nothing renders.
 * @param nowMs milliseconds of a clock that does not step
 */
export const coalesce =
  (
    minRenderIntervalMs: () => number,
    nowMs: () => number,
    scheduler: SchedulerLike = asyncScheduler,
  ): OperatorFunction<Demand | Report, Decision> =>
  (input$) =>
    defer(() => {
      const state = new Coalescing(minRenderIntervalMs, nowMs);
      return input$.pipe(
        map((input) => (input.kind === 'demand' ? state.demand() : state.report(input))),
        expand(({ delayed }) =>
          delayed === undefined
            ? EMPTY
            : timer(delayed.ms, scheduler).pipe(map(() => state.end(delayed))),
        ),
      );
    });

class Coalescing {
  readonly #minRenderIntervalMs: () => number;
  readonly #nowMs: () => number;
  #renderedAt = -Infinity;
  #isOpen = false;
  #isDemanded = false;
  /** Whether to render without a demand: at the end of a deferral, or after a change with spacing 0. */
  #isRenderWanted = false;
  /** The deferral that has not ended. */
  #delayed: DelayedRender | undefined;

  constructor(minRenderIntervalMs: () => number, nowMs: () => number) {
    this.#minRenderIntervalMs = minRenderIntervalMs;
    this.#nowMs = nowMs;
  }

  demand(): Decision {
    this.#isDemanded = true;
    return this.#next();
  }

  /** A demand may have rendered before the end of the deferral, and another deferral may be pending. */
  end(delayed: DelayedRender): Decision {
    if (delayed !== this.#delayed) return {};
    this.#delayed = undefined;
    this.#isRenderWanted = true;
    return this.#next();
  }

  report(report: Report): Decision {
    switch (report.kind) {
      case 'changed':
        this.#isRenderWanted ||= this.#minRenderIntervalMs() === 0;
        return { report, ...this.#next() };
      case 'refreshed':
        return { report, ...this.#refreshed(report) };
      case 'state':
      case 'switched':
        if (!report.state.isReady) this.#forget();
        return { report };
      case 'failed':
        this.#forget();
        this.#isOpen = this.#isDemanded = false;
        return { report };
      default:
        return { report };
    }
  }

  #refreshed({ state: { isReady }, isDirty, hasRendered }: RefreshReport): Decision {
    this.#isOpen = false;
    if (!isReady) this.#forget();
    else if (hasRendered) this.#rendered();
    // The target got ready during the refresh: there is no last render to serve.
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
    // With spacing 0 a change during the refresh gets a render of its own.
    if (this.#minRenderIntervalMs() > 0) this.#isRenderWanted = false;
  }

  /** Ends the deferral; the last render is not served again. */
  #forget(): void {
    this.#renderedAt = -Infinity;
    this.#delayed = undefined;
    this.#isRenderWanted = false;
  }

  #next(): Decision {
    if (this.#isOpen || !(this.#isDemanded || this.#isRenderWanted)) return {};
    const isAllowed = this.#nowMs() - this.#renderedAt >= this.#minRenderIntervalMs();
    const mayRender = this.#isRenderWanted || isAllowed;
    this.#isOpen = true;
    this.#isDemanded = this.#isRenderWanted = false;
    return { refresh: { kind: 'refresh', mayRender } };
  }

  #delay(): DelayedRender {
    const ms = Math.max(0, this.#renderedAt + this.#minRenderIntervalMs() - this.#nowMs());
    return (this.#delayed = { ms });
  }
}

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
  readonly deferral?: Deferral;
}

interface Deferral {
  readonly ms: number;
}

/**
 * Keeps renders at least `spacingMs` apart. One refresh is open at a time; demands that come
 * meanwhile share the next. A demand inside the spacing gets the last render, and one render is
 * deferred to its end. With spacing 0 every change renders. Without a demand nothing renders.
 * @param nowMs milliseconds of a clock that does not step
 */
export const coalesce =
  (
    spacingMs: () => number,
    nowMs: () => number,
    scheduler: SchedulerLike = asyncScheduler,
  ): OperatorFunction<Demand | Report, Decision> =>
  (input$) =>
    defer(() => {
      const state = new Coalescing(spacingMs, nowMs);
      return input$.pipe(
        map((input) => (input.kind === 'demand' ? state.demand() : state.report(input))),
        expand(({ deferral }) =>
          deferral === undefined
            ? EMPTY
            : timer(deferral.ms, scheduler).pipe(map(() => state.end(deferral))),
        ),
      );
    });

class Coalescing {
  readonly #spacingMs: () => number;
  readonly #nowMs: () => number;
  #renderedAt = -Infinity;
  #isOpen = false;
  #isDemanded = false;
  /** Whether to render without a demand: at the end of a deferral, or after a change with spacing 0. */
  #isRenderWanted = false;
  /** The deferral that has not ended. */
  #pending: Deferral | undefined;

  constructor(spacingMs: () => number, nowMs: () => number) {
    this.#spacingMs = spacingMs;
    this.#nowMs = nowMs;
  }

  demand(): Decision {
    this.#isDemanded = true;
    return this.#next();
  }

  /** A demand may have rendered before the end of the deferral, and another deferral may be pending. */
  end(deferral: Deferral): Decision {
    if (deferral !== this.#pending) return {};
    this.#pending = undefined;
    this.#isRenderWanted = true;
    return this.#next();
  }

  report(report: Report): Decision {
    switch (report.kind) {
      case 'changed':
        this.#isRenderWanted ||= this.#spacingMs() === 0;
        return { report, ...this.#next() };
      case 'refreshed':
        return { report, ...this.#refreshed(report) };
      case 'facts':
      case 'switched':
        if (!report.facts.isReady) this.#forget();
        return { report };
      case 'failed':
        this.#forget();
        this.#isOpen = this.#isDemanded = false;
        return { report };
      default:
        return { report };
    }
  }

  #refreshed({ facts: { isReady }, isDirty, hasRendered }: RefreshReport): Decision {
    this.#isOpen = false;
    if (!isReady) this.#forget();
    else if (hasRendered) this.#rendered();
    // The target got ready during the refresh: there is no last render to serve.
    else if (isDirty && this.#renderedAt === -Infinity) this.#isDemanded = true;
    const next = this.#next();
    const isPending = isReady && isDirty && this.#pending === undefined;
    return isPending && next.refresh?.mayRender !== true
      ? { ...next, deferral: this.#defer() }
      : next;
  }

  #rendered(): void {
    this.#renderedAt = this.#nowMs();
    this.#pending = undefined;
    // With spacing 0 a change during the refresh gets a render of its own.
    if (this.#spacingMs() > 0) this.#isRenderWanted = false;
  }

  /** Ends the deferral; the last render is not served again. */
  #forget(): void {
    this.#renderedAt = -Infinity;
    this.#pending = undefined;
    this.#isRenderWanted = false;
  }

  #next(): Decision {
    if (this.#isOpen || !(this.#isDemanded || this.#isRenderWanted)) return {};
    const isSpaced = this.#nowMs() - this.#renderedAt >= this.#spacingMs();
    const mayRender = this.#isRenderWanted || isSpaced;
    this.#isOpen = true;
    this.#isDemanded = this.#isRenderWanted = false;
    return { refresh: { kind: 'refresh', mayRender } };
  }

  #defer(): Deferral {
    const ms = Math.max(0, this.#renderedAt + this.#spacingMs() - this.#nowMs());
    return (this.#pending = { ms });
  }
}

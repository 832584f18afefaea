// Decides when a target is refreshed, and whether that refresh may render. Spec 1.9.
import { defer, map } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { Refresh, RefreshReport, ServingReport } from './report.js';

/** Somebody wants the text. */
export interface Demand {
  readonly kind: 'demand';
}

/** A deferred render is due. */
export interface Due {
  readonly kind: 'due';
  readonly deferral: number;
}

/** A render that is put off by `dueMs` milliseconds. */
export interface Deferred {
  readonly deferral: number;
  readonly dueMs: number;
}

export type Arrival = Demand | Due | ServingReport;

export interface Decision {
  readonly arrival: Arrival;
  /** The command to send now, if any. */
  readonly refresh?: Refresh | undefined;
  readonly deferred?: Deferred | undefined;
}

/**
 * Keeps renders at least `spacingMs` apart. One refresh is open at a time; demands that come
 * meanwhile share the next. A demand inside the spacing gets the last render, and one render is
 * deferred to its end. With spacing 0 every change renders. Without a demand nothing renders.
 * @param now milliseconds of a clock that does not step
 */
export const coalesce =
  (spacingMs: () => number, now: () => number): OperatorFunction<Arrival, Decision> =>
  (arrival$) =>
    defer(() => {
      const state = new Coalescing(spacingMs, now);
      return arrival$.pipe(
        map((arrival) => {
          const { refresh, deferred } = state.take(arrival);
          return { arrival, refresh, deferred };
        }),
      );
    });

type Act = Omit<Decision, 'arrival'>;

class Coalescing {
  readonly #spacingMs: () => number;
  readonly #now: () => number;
  #renderedAt = -Infinity;
  #isOpen = false;
  #isDemanded = false;
  /** Whether to render without a demand: a deferred render is due, or spacing 0 renders each change. */
  #isRenderWanted = false;
  /** The deferral whose render is still to come. */
  #pending: number | undefined;
  #deferrals = 0;

  constructor(spacingMs: () => number, now: () => number) {
    this.#spacingMs = spacingMs;
    this.#now = now;
  }

  take(arrival: Arrival): Act {
    switch (arrival.kind) {
      case 'demand':
        this.#isDemanded = true;
        return this.#next();
      case 'changed':
        this.#isRenderWanted ||= this.#spacingMs() === 0;
        return this.#next();
      case 'due':
        // A demand may have rendered first, and another deferral may be pending by now.
        if (arrival.deferral !== this.#pending) return {};
        this.#pending = undefined;
        this.#isRenderWanted = true;
        return this.#next();
      case 'refreshed':
        return this.#refreshed(arrival);
      case 'facts':
      case 'switched':
        if (!arrival.facts.isReady) this.#forget();
        return {};
      case 'failed':
        this.#forget();
        this.#isOpen = this.#isDemanded = false;
        return {};
      default:
        return {};
    }
  }

  #refreshed({ facts: { isReady }, isDirty, hasRendered }: RefreshReport): Act {
    this.#isOpen = false;
    if (!isReady) this.#forget();
    else if (hasRendered) this.#rendered();
    // The target got ready during the refresh: there is no last render to serve.
    else if (isDirty && this.#renderedAt === -Infinity) this.#isDemanded = true;
    const next = this.#next();
    const isPending = isReady && isDirty && this.#pending === undefined;
    return isPending && next.refresh?.mayRender !== true ? { ...next, ...this.#defer() } : next;
  }

  #rendered(): void {
    this.#renderedAt = this.#now();
    this.#pending = undefined;
    // With spacing 0 a change during the refresh gets a render of its own.
    if (this.#spacingMs() > 0) this.#isRenderWanted = false;
  }

  /** The last render is not served any more, and no render is pending. */
  #forget(): void {
    this.#renderedAt = -Infinity;
    this.#pending = undefined;
    this.#isRenderWanted = false;
  }

  #next(): Act {
    if (this.#isOpen || !(this.#isDemanded || this.#isRenderWanted)) return {};
    const isSpaced = this.#now() - this.#renderedAt >= this.#spacingMs();
    const mayRender = this.#isRenderWanted || isSpaced;
    this.#isOpen = true;
    this.#isDemanded = this.#isRenderWanted = false;
    return { refresh: { kind: 'refresh', mayRender } };
  }

  #defer(): Act {
    const deferral = ++this.#deferrals;
    this.#pending = deferral;
    const dueMs = Math.max(0, this.#renderedAt + this.#spacingMs() - this.#now());
    return { deferred: { deferral, dueMs } };
  }
}

// What every sink is: the right end of the pipeline.
import type { Observable } from 'rxjs';
import type { Target } from '../model.js';

/** What any sink can report. What only one of them can count, it adds to the self-metrics. */
export type SinkEvent =
  /** Metrics are available there from now on. */
  | { readonly kind: 'opened'; readonly where: string }
  /** One response or document is over. */
  | {
      readonly kind: 'served';
      /** Bytes that were written. */
      readonly bytes: number;
      readonly outcome: Outcome;
    }
  /** A snapshot was not written. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** `refused`: an error instead of the requested metrics. `cut`: the reader did not get all of it. */
export type Outcome = 'delivered' | 'refused' | 'cut';

/** The current targets; a reload replaces the list. */
export interface Targets {
  readonly targets: readonly Target[];
}

/**
 * The right end of the pipeline: subscribing opens it, unsubscribing closes it. A sink knows targets
 * and pages; never segments, never streams.
 */
export type Sink = (registry: Targets) => Observable<SinkEvent>;

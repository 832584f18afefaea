// What every sink is: the right end of the pipeline.
import type { Observable } from 'rxjs';
import type { Target } from '../model.js';

/** What a sink reports, in words that fit any sink; counts of its own are metrics of its own. */
export type SinkEvent =
  /** Metrics can be had there from now on. */
  | { readonly kind: 'opened'; readonly where: string }
  /** One answer or document is over. */
  | {
      readonly kind: 'served';
      /** Bytes that were written. */
      readonly bytes: number;
      readonly outcome: Outcome;
    }
  /** A snapshot was left out. */
  | { readonly kind: 'skipped'; readonly reason: string };

/** `refused` is an answer without the metrics that were asked for; `cut` one that did not get to its end. */
export type Outcome = 'delivered' | 'refused' | 'cut';

/** The targets that there are now; another list after a reload. */
export interface Targets {
  readonly targets: readonly Target[];
}

/**
 * The right end of the pipeline: subscribing opens it, unsubscribing closes it. A sink knows targets
 * and pages; never segments, never streams.
 */
export type Sink = (registry: Targets) => Observable<SinkEvent>;

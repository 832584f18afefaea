// What both sinks have in common.
import type { Observable } from 'rxjs';
import type { Target } from '../model.js';

/** What a sink tells of itself, for the log and for the self-metrics. */
export type SinkEvent =
  | { readonly kind: 'opened'; readonly where: string }
  | {
      readonly kind: 'served';
      readonly status: number;
      readonly bytes: number;
      /** Bytes that compressing saved, where it may. */
      readonly saved?: number;
    }
  | { readonly kind: 'skipped' };

/** The targets that there are now; another list after a reload. */
export interface Targets {
  readonly targets: readonly Target[];
}

/**
 * The right end of the pipeline: subscribing opens it, unsubscribing closes it. A sink knows targets
 * and pages; never segments, never streams.
 */
export type Sink = (registry: Targets) => Observable<SinkEvent>;

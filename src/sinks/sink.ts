// What both sinks have in common.
import type { Observable } from 'rxjs';
import type { Target } from '../model.js';

/** What a sink tells of itself, for the log and for the self-metrics. */
export type SinkEvent =
  | { readonly kind: 'opened'; readonly where: string }
  | { readonly kind: 'served'; readonly status: number; readonly bytes: number }
  | { readonly kind: 'skipped' };

/**
 * The right end of the pipeline: subscribing opens it, unsubscribing closes it. A sink knows targets
 * and pages; never segments, never streams.
 */
export type Sink = (targets: readonly Target[]) => Observable<SinkEvent>;

// A partition: a logical worker that refreshes its targets one at a time. Spec 1.10.
import type { Observable } from 'rxjs';
import type { Standing, TargetFacts } from '../target-facts.js';
import type { TargetEvent } from '../../model.js';
import type { Answer, HandedOver } from '../../streams/answer.js';
import type { FormerRoot } from '../../streams/choose-root.js';
import type { Order } from '../../streams/order.js';
import type { TargetDefinition } from '../definition.js';

/** What a target in its partition tells. */
export type Report =
  | Answer
  | HandedOver
  /** Root, readiness or publisher changed: `facts()` shows it. */
  | { readonly kind: 'turned' }
  /** A refresh is over. */
  | { readonly kind: 'refreshed' }
  | { readonly kind: 'event'; readonly event: TargetEvent };

/** A target that a partition runs. */
export interface Hosted {
  /** Runs the target while it is subscribed to; errors when the partition fails as a whole. */
  readonly report$: Observable<Report>;
  standing(): Standing;
  /** All that is known of the target now: some work, for one that is large or waits. */
  facts(): TargetFacts;
}

export interface HostOptions {
  readonly order$: Observable<Order>;
  /** Whether another one answers and observes until an `adopt` arrives. */
  readonly isHeir: boolean;
  /** The root that it had before: taken again if it is there. Plain data. */
  readonly former?: FormerRoot | undefined;
}

export interface Partition {
  readonly number: number;
  host(definition: TargetDefinition, options: HostOptions): Hosted;
  /** Lets go of what it has; its targets must have ended before. */
  close(): void;
}

// The options of a publisher, its objects and its variables.
import type { ObjectState, SlotRef, VariableKind } from '../../published.js';
import type { Capacity } from './capacity.js';

export interface PublisherOptions {
  /** Default `shmApp`. */
  readonly contextId?: string;
  /** Default `pool`. */
  readonly poolName?: string;
  readonly serverKey: string;
  readonly capacity?: Partial<Capacity>;
  /** Milliseconds between heartbeats; 0 for none. Default 1000. */
  readonly heartbeatMs?: number;
  /** Permission bits of the file. Default 0644. */
  readonly mode?: number;
  /** Default: the one of this process. */
  readonly pid?: number;
  /** CLOCK_REALTIME in ns. Default: the system's. */
  readonly realtimeNs?: () => bigint;
}

export interface ObjectOptions {
  /** Default `normal`. */
  readonly state?: ObjectState;
  /** Default true. */
  readonly synced?: boolean;
  /** The id is a foreign one: it need not begin with the id of its parent. Default false. */
  readonly foreignId?: boolean;
}

export interface VariableOptions {
  readonly kind?: VariableKind;
  readonly unit?: string;
  readonly help?: string;
  /** Upper bounds of a histogram's buckets without +Inf, or quantiles of a summary; ascending. */
  readonly schema?: readonly number[];
  /** The most bytes of a text. Default 64. */
  readonly textBytes?: number;
  /**
   * True for a value from the start: no observations, 0, false, or an empty text. Default: true for
   * histograms and summaries, false for the others.
   */
  readonly synced?: boolean;
}

/** An object of a publisher. `id` is 0 if the segment had no room for it. */
export interface PublishedObject {
  readonly id: number;
  /** Its object id, such as `host.1.shop.till`. */
  readonly name: string;
  readonly ref: SlotRef | undefined;
  readonly parent: PublishedObject | undefined;
  readonly asOf: SlotRef | undefined;
}

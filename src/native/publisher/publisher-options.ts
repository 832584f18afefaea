// What a publisher, its objects and its variables can be told when they are made.
import type { ObjectState, SlotRef, VariableKind } from '../../model.js';
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
  /** Default: of this process. */
  readonly pid?: number;
  /** CLOCK_REALTIME in ns. Default: the system's. */
  readonly realtimeNs?: () => bigint;
}

export interface ObjectOptions {
  /** Default `normal`. */
  readonly state?: ObjectState;
  /** Default true. */
  readonly synced?: boolean;
  /** The id is somebody else's: it need not begin with the id of its parent. Default false. */
  readonly foreignId?: boolean;
}

export interface VariableOptions {
  readonly kind?: VariableKind;
  readonly unit?: string;
  readonly help?: string;
  /** Upper bounds of a histogram's buckets without +Inf, or quantiles of a summary; ascending. */
  readonly schema?: readonly number[];
  /** Bytes that a text may have. Default 64. */
  readonly textBytes?: number;
  /**
   * Whether there is a value from the start: no observations, 0, false, or an empty text. Default:
   * true for histograms and summaries, false for the others.
   */
  readonly synced?: boolean;
}

/** An object of a publisher. `id` is 0 when the segment had no room for it. */
export interface PublishedObject {
  readonly id: number;
  /** Its object id, such as `host.1.shop.till`. */
  readonly name: string;
  readonly ref: SlotRef | undefined;
  readonly parent: PublishedObject | undefined;
  readonly asOf: SlotRef | undefined;
}

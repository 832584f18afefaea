// The nodes of a folded tree, and the objects of workers from which they are made.
import { gauge } from '../foreign/polled-source.js';
import type { PolledObject, SlotWriter } from '../foreign/polled-source.js';
import type { Declaration, Source, Variable } from '../model.js';
import type { FoldedVariable, Input } from './folded-values.js';

/** An object of the folded tree, which combines the objects with the same path and class in all workers. */
export interface FoldedObject {
  readonly object: PolledObject;
  readonly writer: SlotWriter;
  readonly siblings: Map<string, FoldedObject>;
  /** The key of the object in `siblings`. */
  readonly key: string;
  readonly children: Map<string, FoldedObject>;
  readonly variables: Map<string, FoldedVariable>;
  readonly members: Set<Member>;
  /**
   * Objects with the same name and class below this one, by worker. They have the variables with the rule `each`, and
   * the label of the worker.
   */
  readonly owns: Map<string, FoldedObject>;
  /** When the last worker that had the object ended. */
  orphanedAtMs: number | undefined;
}

/** An object of a worker. */
export interface Member {
  readonly worker: Worker;
  readonly folded: FoldedObject;
  /** The object of this worker in `folded.owns`, if it has one. */
  own: FoldedObject | undefined;
  readonly parent: Member | undefined;
  readonly children: Set<Member>;
  readonly inputs: Set<Input>;
  readonly id: number;
}

/** A live generation of a worker. */
export interface Worker {
  readonly source: Source;
  /** The server key of the worker. */
  readonly key: string;
  /** Whether its values do not count yet, since another source of the same generation has them. */
  isWaiting: boolean;
  /** Whether its first tree is being read. */
  isOpening: boolean;
  /** Whether its gauges and texts are in the folded tree. Its counts always are. */
  isServed: boolean;
  readonly members: Map<number, Member>;
  readonly inputs: Map<number, Input>;
  /** Refused variables. Each waits until no worker has the variable `folded`, from which it differs. */
  readonly differing: Map<number, { readonly variable: Variable; readonly folded: FoldedVariable }>;
  /** Variables for which the folded tree has no room. */
  readonly unplaced: Map<number, Variable>;
  /** The number of slots to read. */
  slots: number;
}

export const newWriter = (): SlotWriter => ({ writeSlots: () => undefined });

/** Equal variables of all workers have one declaration, except for the quantiles, which the folded variable lacks. */
export const isSame = (one: Declaration, other: Declaration): boolean =>
  one.type === other.type &&
  one.kind === other.kind &&
  (one.type !== 'histogram' || one.schema.join() === other.schema.join());

/** Makes an object without members, and adds it to its siblings. */
export function newFolded(
  object: PolledObject,
  writer: SlotWriter,
  siblings: Map<string, FoldedObject>,
  key: string,
): FoldedObject {
  const folded: FoldedObject = {
    ...{ object, writer, siblings, key, orphanedAtMs: undefined },
    ...{ children: new Map(), variables: new Map(), members: new Set(), owns: new Map() },
  };
  siblings.set(key, folded);
  return folded;
}

export const nameBelow = (parent: string, name: string): string =>
  name.startsWith(`${parent}.`) ? name.slice(parent.length) : `.${name}`;

export const LIVE = gauge('workers', 'i64', '', {
  name: 'shm_workers',
  help: 'Workers whose values are in the metrics of the application.',
  labels: {},
});
export const STALLED = gauge('stalledWorkers', 'i64', '', {
  name: 'shm_workers_stalled',
  help: 'Workers that hang or are stopped: their heartbeat has stopped. Their counters stay in the sums.',
  labels: {},
});
export const LEFT_OUT = gauge('leftOutWorkers', 'i64', '', {
  name: 'shm_workers_left_out',
  help: 'Workers beyond the limit of 256, and segments of workers that cannot be read. The status page states the first reason.',
  labels: {},
});
export const LEFT_OUT_VARIABLES = gauge('leftOutVariables', 'i64', '', {
  name: 'shm_workers_left_out_variables',
  help: 'Variables of workers that are left out, since they differ from those of another worker, or exceed segment_max_items.',
  labels: {},
});
export const ENDED: Declaration = {
  ...gauge('endedWorkers', 'u64', '', {
    name: 'shm_workers_ended_total',
    help: 'Workers that have ended. Their counters stay in the sums.',
    labels: {},
  }),
  kind: 'counter',
};

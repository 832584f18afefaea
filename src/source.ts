// A publisher and its tree: objects, variables and their values, in a form that all formats share.
import type { Budget } from './budget.js';
import type { RootIdentity, SlotRef, ValueType, VariableKind } from './published.js';

/** The metric that the format states for a variable. It applies if no catalogue row reads the variable. */
export interface DeclaredMetric {
  /** A valid metric name. */
  readonly name: string;
  readonly help: string;
  /**
   * Labels of the metric. They take precedence over the labels of the variable's object. None of them is named
   * `object`.
   */
  readonly labels: Readonly<Record<string, string>>;
  /** The finite bounds of a histogram as the label `le` shows them; by default the numbers of the schema. */
  readonly bounds?: readonly string[];
}

/** The metadata of a variable, as its publisher states it. Many variables share one declaration. */
export interface Declaration {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
  /** Upper bucket bounds of a histogram (without +Inf) or the quantiles of a summary. */
  readonly schema: readonly number[];
  /** The metric that the format states. By default, the metric is named after the class and the variable. */
  readonly metric?: DeclaredMetric;
}

/**
 * One variable of a managed object. A `Source` reads its value. Compare variables by id: two instances of this type
 * may represent the same variable, and the removal of a variable changes neither instance.
 */
export interface Variable extends SlotRef, Declaration {
  /** The id is unique within the source's generation and never reused. Later variables have higher ids. */
  readonly id: number;
  readonly object: ManagedObject;
  readonly declaration: Declaration;
}

/** A variable that refers to its declaration instead of copying it, to halve the memory that it takes. */
export class DeclaredVariable implements Variable {
  readonly object: ManagedObject;
  readonly id: number;
  readonly slot: number;
  readonly incarnation: number;
  readonly declaration: Declaration;

  constructor(
    object: ManagedObject,
    id: number,
    slot: number,
    incarnation: number,
    declaration: Declaration,
  ) {
    this.object = object;
    this.id = id;
    this.slot = slot;
    this.incarnation = incarnation;
    this.declaration = declaration;
  }

  get name() {
    return this.declaration.name;
  }
  get type() {
    return this.declaration.type;
  }
  get kind() {
    return this.declaration.kind;
  }
  get unit() {
    return this.declaration.unit;
  }
  get help() {
    return this.declaration.help;
  }
  get schema() {
    return this.declaration.schema;
  }
}

/** A live collection in the order of ids. Items may be added and removed during an iteration. */
export interface LiveCollection<T> extends Iterable<T> {
  readonly size: number;
  has(item: T): boolean;
}

/** A managed object with its variables and children. Its slot holds its state; 1 is normal. */
export interface ManagedObject extends SlotRef {
  readonly id: number;
  /**
   * The object id of the management tree, such as `host.1.ads.userDatabase`. `id` is only the number of the object
   * in the segment.
   */
  readonly name: string;
  readonly className: string;
  readonly parent: ManagedObject | undefined;
  readonly children: LiveCollection<ManagedObject>;
  readonly variables: LiveCollection<Variable>;
  /**
   * The identity of a root, whose name is `<host>.<instance>.<application>`, with no dot in the last two parts. Each
   * part that the root does not state is an empty string.
   */
  readonly identity: RootIdentity;
  /** Labels that the format states for the metrics of this object. Labels of a catalogue take precedence. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * When the values of the object and of those below it began to count, in Unix milliseconds. Undefined: at the time
   * that the parent or the source states.
   */
  readonly startedUnixMs?: number | undefined;
  /** The slot with the time (Unix ns) of a root's values, if the publisher states one. */
  readonly asOf: SlotRef | undefined;
}

/** An object or variable that was added to a source, or removed from it. */
export type StructureChange =
  | { readonly kind: 'object-added'; readonly object: ManagedObject }
  | { readonly kind: 'variable-added'; readonly variable: Variable }
  | { readonly kind: 'object-removed'; readonly object: ManagedObject }
  | { readonly kind: 'variable-removed'; readonly variable: Variable };

/** Structure changes, oldest first. `hasMore` is true if the next call returns more changes. */
export interface StructureChanges {
  readonly changes: readonly StructureChange[];
  readonly hasMore: boolean;
  /** Whether the next call only frees memory of removed nodes. */
  readonly isReclaiming?: boolean;
}

/** A consistent copy of a value that is longer than a slot. */
export type Frame =
  | { readonly type: 'string'; readonly text: string }
  | {
      readonly type: 'histogram';
      /** Observations per bucket, not cumulative: a count per bound of `Variable.schema`, then the count for +Inf. */
      readonly counts: BigUint64Array;
      readonly sum: number;
    }
  | {
      readonly type: 'summary';
      readonly count: bigint;
      readonly sum: number;
      /** One value per quantile of `Variable.schema`. */
      readonly values: Float64Array;
    };

/**
 * The managed objects of one generation, open for reading. A restart of the publisher begins a new generation.
 * This interface hides the format: callers know roots, objects, variables and slots, but no offsets or files.
 */
export interface Source {
  /**
   * The size of the area with all frames. Valid frames do not overlap, so copies of all frames together are not
   * larger.
   */
  readonly frameBytes: number;
  /** An id of the generation. Ids of objects and variables are valid within one generation only. */
  readonly generation: string;
  /** When the publisher created the source, and its values began to count, in Unix milliseconds; undefined if unknown. */
  readonly startedUnixMs?: number | undefined;
  /** The roots, in the order in which they were published. */
  readonly roots: LiveCollection<ManagedObject>;
  /**
   * Reads additions and removals since the last call, within a work budget.
   * @throws Fault SEGMENT_CORRUPT if the structure is inconsistent
   */
  readChanges(): StructureChanges;
  /** Whether the structure has changed since the last `readChanges()`; true if unknown. */
  hasChanges(): boolean;
  /**
   * Computes the values of slots and frames, in small steps, if the source computes any. Called before each copy of all
   * values. The tree may change between steps, but not by this call. Several calls may take turns.
   */
  computingValues?(): Iterable<void>;
  /**
   * Copies up to `count` slots of 8 bytes; returns the number of copied slots. Must not change the tree, since the
   * caller may be walking it.
   */
  readSlots(first: number, count: number, into: Uint8Array): number;
  /**
   * Copies up to `count` words of 4 bytes; returns the number of copied words.
   * The word of a slot is `incarnation << 1 | synced`. Incarnations start at 1, and increase before the first value of
   * another variable. The exporter copies words after values, so a source drops a wrong value by clearing `synced`.
   */
  readWords(first: number, count: number, into: Uint8Array): number;
  /**
   * The value of a variable whose value is in a frame; undefined if a bounded number of attempts gave no consistent
   * copy.
   * @param budget counts the copied bytes, and one step for each attempt (two copies) after the first; unlimited by
   *   default
   */
  readFrame(variable: Variable, budget?: Budget): Frame | undefined;
}

/**
 * The states of a publisher.
 *
 * | State | Condition |
 * |---|---|
 * | `absent` | nothing exists, or the exporter may not read it |
 * | `building` | the publisher exists, but is not complete yet |
 * | `live` | the source is readable; if a source has many publishers, the reason names the omitted ones |
 * | `stalled` | the publisher shows no activity; its values may be served for a while |
 * | `closed` | the publisher ended in order |
 * | `dead` | the publisher crashed (`foreign/processes.ts` recognizes reused process numbers) |
 * | `superseded` | another publisher has the name now |
 * | `incompatible` | the data has an unknown version |
 * | `corrupt` | the data has bytes that no publisher writes |
 */
export const PUBLISHER_STATES = [
  'absent',
  'building',
  'live',
  'stalled',
  'closed',
  'dead',
  'superseded',
  'incompatible',
  'corrupt',
] as const;
export type PublisherState = (typeof PUBLISHER_STATES)[number];

/** The verdict on a publisher, with a sentence for operators. */
export interface Verdict {
  readonly state: PublisherState;
  readonly reason: string;
  /** Whether the reason names something that the format left out or began anew. */
  readonly isPartial?: boolean;
  /** Whether a publisher has been stalled for so long that its values are not served any more. */
  readonly isOverdue?: boolean;
  /** Seconds since the publisher's last heartbeat; undefined for a publisher without heartbeats. */
  readonly heartbeatAgeSeconds?: number;
}

/** The publisher's process, as the publisher states it. */
export interface PublisherProcess {
  readonly pid: number;
  /** Whether the process belongs to another PID namespace; undefined if the exporter's user may not read that. */
  readonly isElsewhere?: boolean;
  /** When the process created its segment, in Unix milliseconds. */
  readonly startedUnixMs: number;
}

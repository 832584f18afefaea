// The nouns that every part of the exporter speaks; types only, no behaviour.
import type { Observable } from 'rxjs';
import type { Budget } from './budget.js';
import type { DeflateBlock } from './exposition/compress/deflate-stream.js';
import type { RootIdentity, SlotRef, ValueType, VariableKind } from './published.js';

export * from './published.js';

/** How a format names the metric of a variable, where no catalogue does. */
export interface StatedMetric {
  /** A valid name. */
  readonly name: string;
  readonly help: string;
  /** Labels that go before those of the object; no others than these are put on it. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What a publisher says of a variable beside its value; many variables share one. */
export interface Declaration {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
  /** Upper bucket bounds of a histogram (without +Inf) or the quantiles of a summary. */
  readonly schema: readonly number[];
  /** The metric that the format makes of it; otherwise its name is made of those of class and variable. */
  readonly metric?: StatedMetric;
}

/**
 * One variable of a managed object. Its value is read apart, through a `Source`. A variable is known
 * by its id: two of these may stand for the same one, and each stays as it is after a removal.
 */
export interface Variable extends SlotRef, Declaration {
  /** Unique within the source's generation, never reused; later variables have higher numbers. */
  readonly id: number;
  readonly object: ManagedObject;
  readonly declaration: Declaration;
}

/** What belongs to something as it is now, in the order of ids. Iterations go on while items come and go. */
export interface Members<T> extends Iterable<T> {
  readonly size: number;
  has(item: T): boolean;
}

/** One managed object. Its own slot holds its state; `Variable`s hang below it. */
export interface ManagedObject extends SlotRef {
  readonly id: number;
  /** The object id of the management world, such as `host.1.ads.userDatabase`. */
  readonly name: string;
  readonly className: string;
  readonly parent: ManagedObject | undefined;
  readonly children: Members<ManagedObject>;
  readonly variables: Members<Variable>;
  /** What a root says of its identity; empty texts where it says nothing. */
  readonly identity: RootIdentity;
  /** Labels that the format states for the metrics of this object; a catalogue's own go before them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The slot with the time (Unix ns) that a root's values stand for, when it states one. */
  readonly asOf: SlotRef | undefined;
}

/** What changed in a source's structure, in the order in which it happened. */
export type StructureChange =
  | { readonly kind: 'object-added'; readonly object: ManagedObject }
  | { readonly kind: 'variable-added'; readonly variable: Variable }
  | { readonly kind: 'object-removed'; readonly object: ManagedObject }
  | { readonly kind: 'variable-removed'; readonly variable: Variable };

/** A slice of changes; `hasMore` says that another call would bring the next. */
export interface StructureChanges {
  readonly changes: readonly StructureChange[];
  readonly hasMore: boolean;
  /** Whether another call would bring nothing, but free memory of what is gone. */
  readonly isReclaiming?: boolean;
}

/** A framed value: everything that does not fit one slot. Copied whole, never torn. */
export type Frame =
  | { readonly type: 'string'; readonly text: string }
  | {
      readonly type: 'histogram';
      /** Observations a bucket, not cumulative; one more than `Variable.schema` (+Inf last). */
      readonly counts: BigUint64Array;
      readonly sum: number;
    }
  | {
      readonly type: 'summary';
      readonly count: bigint;
      readonly sum: number;
      /** One value a quantile of `Variable.schema`. */
      readonly values: Float64Array;
    };

/**
 * One generation of managed objects, open for reading: the seam to bytes. Everything right of it
 * knows roots, objects, variables and slots, never offsets or files.
 */
export interface Source {
  /** Bytes of all frames. Those of an honest publisher do not overlap: one copy of each is no more. */
  readonly frameBytes: number;
  /** Differs from that of every other generation: ids of one mean nothing in another. */
  readonly generation: string;
  /** The roots, in the order in which they were published. */
  readonly roots: Members<ManagedObject>;
  /**
   * Takes in what was added and removed since the last call, a slice at once.
   * @throws Fault SEGMENT_CORRUPT when the structure contradicts itself
   */
  sync(): StructureChanges;
  /** Whether something was added or removed since the last `sync()`, or nobody can tell. */
  hasChanges(): boolean;
  /** Copies up to `count` slots of 8 bytes; returns how many it has. Adds and removes nothing: the tree is being walked. */
  readSlots(first: number, count: number, into: Uint8Array): number;
  /** Copies up to `count` words of 4 bytes, `incarnation << 1 | synced` of each slot, and returns how many it has. */
  readWords(first: number, count: number, into: Uint8Array): number;
  /**
   * The value of a framed variable, or undefined when no whole copy could be had in time.
   * @param budget spent for what is copied, and a step for each copy of a frame that was changing
   *   during the first two; by default there is no bound
   */
  readFrame(variable: Variable, budget?: Budget): Frame | undefined;
}

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

/** The verdict on a publisher, with the sentence that an operator reads. */
export interface Verdict {
  readonly state: PublisherState;
  readonly reason: string;
  /** Seconds since the publisher's last heartbeat; undefined where it has none. */
  readonly heartbeatAgeSeconds?: number;
}

/** The process that publishes, as it says itself. */
export interface PublisherProcess {
  readonly pid: number;
  /** Whether it belongs to another PID namespace, as far as this user may see. */
  readonly isElsewhere?: boolean;
  /** When it made its segment, in Unix milliseconds. */
  readonly startedUnixMs: number;
}

/** How far the first full sync of a target has come. */
export interface SyncProgress {
  readonly objects: { readonly synced: number; readonly total: number };
  readonly variables: { readonly synced: number; readonly total: number };
  /** What is waited for; empty when nothing is. */
  readonly reason: string;
}

/** Metric types of the exposition formats. */
export type MetricType =
  'counter' | 'gauge' | 'histogram' | 'summary' | 'info' | 'stateset' | 'unknown';

/** The metadata that the header of a metric family states in text 0.0.4 or OpenMetrics. */
export interface FamilyMetadata {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly help: string;
}

/** One series of a family at the moment of a snapshot. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The text of the value, so that 64-bit integers stay exact. */
  readonly value: string;
}

/** The samples of one family, as text and parsed. */
export interface FamilyText {
  readonly metadata: FamilyMetadata;
  /** The sample lines in order, without the header, which depends on the format. */
  readonly buffers: readonly Uint8Array[];
  /** The same lines as a string, if they were made as one. */
  readonly text?: string | undefined;
  /** The same lines with their header of text 0.0.4 as ranges of memory, if the kernel wrote them as text. */
  readonly textRanges?: TextRanges | undefined;
  /** Bytes of the sample lines. */
  readonly bytes: number;
  /** Parses the lines as the samples are read. */
  samples(): Iterable<Sample>;
  /** The same lines as deflate blocks, if the kernel compressed them. */
  readonly deflateBlocks?: readonly DeflateBlock[] | undefined;
}

/** The header lines of a family. */
export interface FamilyHeader {
  readonly text: string;
  readonly bytes: number;
}

/** The text of a family with its header of text 0.0.4, as ranges of memory. */
export interface TextRanges {
  readonly header: FamilyHeader;
  readonly memory: ArrayBufferLike;
  /** Start and end of each range, in bytes. */
  readonly ranges: readonly number[];
}

/** The encodings of a snapshot. It can produce any other encoding, but that takes longer. */
export interface Encodings {
  readonly text: boolean;
  readonly deflated: boolean;
}

/** The rendered application text of one target at one moment. Its bytes stay valid while it is held. */
export interface Snapshot {
  /** The metadata of its families, in the order of a page: the same list while they are the same. */
  readonly metadata: readonly FamilyMetadata[];
  /** Views of the text of its families, which may be made at the first read: always the same list. */
  readonly families: readonly FamilyText[];
  /** The page of text 0.0.4, if it is in memory: always the same list. */
  readonly page?: readonly Uint8Array[] | undefined;
  /** Bytes of the lines, without headers. */
  readonly bytes: number;
  readonly series: number;
  readonly encodings: Encodings;
  /** Whether the kernel compressed the lines, so that each family has deflate blocks. */
  readonly isDeflated?: boolean | undefined;
  /** Whether one of its families has, or had since its first line, a value that OpenMetrics forbids. */
  readonly violatesOpenMetrics?: boolean | undefined;
  /** Keeps its bytes valid until the returned function is called. */
  hold(): () => void;
}

/** One internal metric of a target: a single series. Spec 2.5. */
export interface InternalMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** A bigint where a double would round. */
  readonly value: number | bigint;
  /** All targets have the same label names. Labels with an empty value are not shown. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A named subset of the metrics. Spec 2.3. */
export interface Scope {
  readonly name: string;
  /** A pure function. */
  selects(metric: Pick<FamilyMetadata, 'name' | 'type'>): boolean;
}

/** A target that is ready, with all of its metrics or those that a scope selects. */
export interface ReadyExposition {
  readonly kind: 'ready';
  /** The application's metrics. */
  readonly snapshot: Snapshot;
  /** The families that a scope selects: the same list for the same snapshot and scope. Undefined without a scope. */
  readonly selected?: readonly FamilyText[] | undefined;
  /** The metrics about the target itself at the time of the demand. Spec 2.5. */
  readonly internal: readonly FamilyText[];
  readonly status: TargetStatus;
}

/** The answer to one demand on a target. */
export type Exposition =
  ReadyExposition | { readonly kind: 'waiting'; readonly status: TargetStatus };

/** A body to be sent; its bytes stay valid until `release()`, which is called once. */
export interface Body {
  readonly buffers: readonly Uint8Array[];
  readonly bytes: number;
  readonly release: () => void;
}

/** A body without compression. */
export interface Page extends Body {
  readonly contentType: string;
  /**
   * Returns the page as gzip, at once if the kernel compressed the lines. The result takes the place of the page: only
   * the result must be released. Undefined if the page must not be compressed.
   */
  gzip?(): Body | Promise<Body>;
}

/** A document that a sink writes at once. Pieces may be made as they are read. `release()` is called once. */
export interface Document {
  readonly buffers: Iterable<Uint8Array>;
  readonly release: () => void;
}

/** A text format, which makes pages of expositions. */
export interface Format {
  readonly contentType: string;
  /** Whether the format allows all values of an exposition. A format without this method allows every value. */
  accepts?(exposition: ReadyExposition): boolean;
  page(exposition: ReadyExposition): Page;
}

/** What a target says of itself. */
export interface TargetStatus {
  readonly app: string;
  /** The key whose root was chosen, else the first configured one. */
  readonly serverKey: string;
  /** Id of the chosen root; empty while none is. */
  readonly root: string;
  readonly isReady: boolean;
  readonly progress: SyncProgress;
  readonly publisher: Verdict;
  /** Undefined where the format does not say, and where no segment was seen. */
  readonly process?: PublisherProcess | undefined;
  readonly partition: number;
}

/** What a target reads: the name of the format, and what of its values is proven. */
export interface ReadFormat {
  readonly name: string;
  readonly certainty: string;
}

/** A root that was chosen, and the server key that shows it. */
export interface FoundRoot {
  readonly serverKey: string;
  readonly id: string;
}

/** Moments of a target, in Unix milliseconds. */
export interface TargetTimes {
  /** Since when it is ready, or not ready. */
  readonly since: number;
  /** The moment of its newest value as far as that is known: undefined before the first sign of one. */
  readonly newest: { readonly unixMs: number; readonly by: NewestBy } | undefined;
}

/** `stated`: the publisher states the moment; `notified`: its last notification that was noticed. */
export type NewestBy = 'stated' | 'notified';

/** The parts of an object or variable in which a search looks; `any` is all of them. */
export const TREE_FIELDS = ['any', 'object', 'class', 'variable', 'metric', 'value'] as const;
export type TreeField = (typeof TREE_FIELDS)[number];

/** Which part of a tree is asked for, by what becomes of it: `left-out` is what becomes no metric. */
export const TREE_CHOICES = ['all', 'metrics', 'left-out', 'unsynced'] as const;
export type TreeChoice = (typeof TREE_CHOICES)[number];

/** A bounded look at a part of a target's tree. Plain data: it crosses threads. */
export interface TreeQuery {
  /** Only this object and what is below it: its id, or its path below the root; empty for the whole tree. */
  readonly object: string;
  /** How many objects and variables to pass over, in the order of the tree, matching or not. */
  readonly from: number;
  /** In lower case; each must occur in a field of the object or variable. */
  readonly words: readonly string[];
  readonly field: TreeField;
  readonly choice: TreeChoice;
  /** Whether texts are shown, and found, that no row reads. */
  readonly showsUnreadTexts: boolean;
  /** The most rows of the answer, the most characters of their texts, and the most milliseconds from the position on. */
  readonly maxRows: number;
  readonly maxCharacters: number;
  readonly maxMs: number;
}

/** A value for people; texts are as the publisher wrote them. */
export type TreeValue =
  /** There is none to show, with the reason. */
  | { readonly kind: 'none'; readonly reason: string }
  /** The state of an object, a number, or the numbers of a distribution. */
  | { readonly kind: 'plain'; readonly text: string }
  /** The beginning of a text of so many characters. */
  | { readonly kind: 'text'; readonly text: string; readonly characters: number };

/** A metric that a row makes, or would make, of a value. */
export interface TreeMetric {
  readonly name: string;
  readonly type: MetricType;
  /** As text formats write them, without those that are values themselves. */
  readonly labels: string;
  /** How many series are shown. */
  readonly series: number;
  /** Why there are none; empty where there are. */
  readonly why: string;
}

interface TreeRowFields {
  /** Differs from those of all other rows of the tree. */
  readonly id: number;
  readonly isSynced: boolean;
  readonly value: TreeValue;
  readonly metrics: readonly TreeMetric[];
  /** Why it has no metrics; empty where it has, and for objects whose variables say it. */
  readonly why: string;
}

export interface TreeObject extends TreeRowFields {
  readonly kind: 'object';
  /** Its id in the management world. */
  readonly name: string;
  readonly className: string;
  /** Objects above it, from the root on. */
  readonly depth: number;
  readonly variables: number;
  readonly children: number;
  /** False for one that stands above a match, without being one. */
  readonly isMatch: boolean;
}

export interface TreeVariable extends TreeRowFields, Pick<Declaration, 'name' | 'type' | 'unit'> {
  readonly kind: 'variable';
  readonly variableKind: VariableKind;
  /** The beginning of what the publisher says of it. */
  readonly help: string;
}

/** Each variable follows the row of its object, or another variable of that. */
export type TreeRow = TreeObject | TreeVariable;

/** A part of a tree as it is at the moment. */
export interface TreePart {
  readonly kind: 'part';
  readonly root: string;
  /** Ids of the objects above the chosen one, from the root on. */
  readonly above: readonly string[];
  readonly rows: readonly TreeRow[];
  /** Where the rest begins; undefined at the end of the tree. */
  readonly next: number | undefined;
  /** Whether the look ended since it took too long. */
  readonly isLate: boolean;
  /** How many objects and variables the target tracks. */
  readonly tracked: { readonly objects: number; readonly variables: number };
}

export type TreeAnswer =
  | TreePart
  /** There is no tree, with the reason; or it has no object of that id. */
  | { readonly kind: 'no-tree'; readonly reason: string }
  | { readonly kind: 'no-object' };

/** One target as a sink sees it. */
export interface Target {
  readonly app: string;
  readonly serverKeys: readonly string[];
  /** The hint that its root is chosen by, a full root id or an instance number; empty for none. */
  readonly instance: string;
  readonly reads: ReadFormat;
  /** The chosen root, else the one that was chosen last; undefined before the first. */
  readonly lastRoot: FoundRoot | undefined;
  status(): TargetStatus;
  times(): TargetTimes;
  /** The metrics of its last text; undefined while it has none. */
  readonly lastFamilies: readonly FamilyMetadata[] | undefined;
  /** A look at its tree: emits one answer and completes. It is no demand, and copies nothing for one. */
  queryTree(query: TreeQuery): Observable<TreeAnswer>;
  /** The internal metrics as they are now, without being a scrape. */
  internal(): readonly InternalMetric[];
  /**
   * One demand, for all metrics or a scope: emits one exposition and completes. Spec 1.9.
   * @param form in which the lines are wanted; text, if nothing is said
   */
  demand(scope?: Scope, form?: keyof Encodings): Observable<Exposition>;
}

/** What happens to a target that an operator wants to read about. */
export interface TargetEvent {
  readonly level: LogLevel;
  readonly message: string;
  /** What the message is about, a target or a component of the bridge; the message names it too. */
  readonly about?: {
    readonly app?: string;
    readonly component?: string;
    readonly serverKeys: readonly string[];
  };
}

export const LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

// The types that all parts of the exporter share.
import type { Observable } from 'rxjs';
import type { VariableKind } from './published.js';
import type { Declaration, PublisherProcess, Verdict } from './source.js';

export * from './published.js';
export * from './source.js';

/** The progress of the first full sync of a target. */
export interface SyncProgress {
  readonly objects: { readonly synced: number; readonly total: number };
  readonly variables: { readonly synced: number; readonly total: number };
  /** The object, variable or condition that the sync waits for; empty if none. */
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

/** The number of series of a family. */
export interface FamilySize {
  readonly name: string;
  readonly series: number;
}

/** One series of a family at the moment of a snapshot. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The text of the value, so that 64-bit integers stay exact. */
  readonly value: string;
}

/**
 * The forms in which lines are written: as text, as blocks of a deflate stream, as messages of protobuf, as these
 * messages in blocks of a deflate stream, or as text with `_created` lines.
 */
export const LINE_FORMS = ['text', 'deflated', 'protobuf', 'deflated-protobuf', 'created'] as const;
export type LineForm = (typeof LINE_FORMS)[number];
/** The form of a demand that states none. */
export const DEFAULT_FORM: LineForm = 'text';

/** Consecutive lines of one family in one form. */
export interface Piece {
  readonly family: FamilyMetadata;
  /** The number of lines. */
  readonly lines: number;
  /** Text, one deflate block that is aligned to a byte, or fields `metric` of a `MetricFamily`. */
  readonly data: Uint8Array;
  /** Bytes of the lines as text or messages, without compression. */
  readonly bytes: number;
  /** The CRC-32 of the uncompressed lines; undefined except for a deflate block. */
  readonly crc: number | undefined;
}

/** Rendered metrics of one target at one moment: all, or those that a scope selects. */
export interface Snapshot {
  /** The metadata of its families, in the order of a page. Snapshots with the same families share the list. */
  readonly metadata: readonly FamilyMetadata[];
  /** Whether any family has a value that OpenMetrics forbids, or has had one since the family was added. */
  readonly violatesOpenMetrics: boolean;
  /**
   * The lines without headers, in the order of a page; undefined if the render did not write this form. `textLines`
   * (`exposition/page/text-page.ts`) converts deflate blocks to text. The bytes stay valid while the snapshot is held.
   */
  lines(form: LineForm): readonly Piece[] | undefined;
  /**
   * Keeps the snapshot's bytes valid until the returned function is called.
   *
   * | Holder | From | Until |
   * |---|---|---|
   * | `ViewRefresher` | the render | the next render, or the end of the view |
   * | `SnapshotSender` of a thread | the report | the next message after the main thread has released it |
   * | `ServedTarget` | the report | a refresh that may render, the loss of readiness, or the end of the target |
   * | `ServedTarget`, once more | the first answer to a demand of the report | the last answer |
   * | `demandAll` | the answer of a target | the sink has made its page or document |
   * | `Page`, `Document` | its creation | `release()`, or the end of a conversion or of the compression by zlib |
   */
  hold(): () => void;
}

/**
 * A command to copy the current values, and to render them if their text changed and `mayRender` is true. One report
 * answers a refresh.
 */
export interface Refresh {
  readonly kind: 'refresh';
  readonly mayRender: boolean;
  /** The forms in which the demands need the lines; empty without demands. */
  readonly forms: readonly LineForm[];
}

/** One series of an internal metric of a target. The series of a metric are consecutive. Spec 2.5. */
export interface InternalMetric {
  /** The name of the metric. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** The end of the name of the series after the name of the metric: `_bucket`, `_sum` or `_count` in a histogram. */
  readonly suffix?: string;
  /** The value; a bigint if a double would round it. */
  readonly value: number | bigint;
  /** All targets have the same label names for this metric. Pages omit labels with an empty value. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Lines of one family as text, with their line feeds. */
export interface FamilyLines {
  readonly metadata: FamilyMetadata;
  readonly text: string;
}

/** A named subset of the metrics. Spec 2.3. */
export interface Scope {
  readonly name: string;
  /** A pure function. */
  selects(metric: Pick<FamilyMetadata, 'name' | 'type'>): boolean;
}

/** The answer of a ready target: all metrics, or the metrics that a scope selects. */
export interface ReadyAnswer {
  readonly kind: 'ready';
  /** The application's metrics that the scope selects. */
  readonly snapshot: Snapshot;
  /** The metrics about the target itself at the time of the demand. Spec 2.5. */
  readonly internal: readonly FamilyLines[];
  readonly status: TargetStatus;
  /** The labels of the target, with which the labels of each series begin; undefined if they have none. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** An answer whose lines have the labels of their target. */
export type LabelledAnswer = ReadyAnswer & { readonly labels: Readonly<Record<string, string>> };

/** The answer to one demand on a target. */
export type DemandAnswer =
  ReadyAnswer | { readonly kind: 'waiting'; readonly status: TargetStatus };

/** A body to be sent. Its bytes stay valid until `release()`. The holder of the body calls it exactly once. */
export interface Body {
  readonly buffers: readonly Uint8Array[];
  readonly bytes: number;
  readonly release: () => void;
}

/** A body without compression. */
export interface Page extends Body {
  readonly contentType: string;
  /**
   * Compresses the page with gzip; returns a promise if the kernel has not compressed the lines. The result replaces
   * the page: release only the result. A page that must not be compressed lacks this method.
   */
  gzip?(): Body | Promise<Body>;
}

/**
 * A document that a sink writes in one go. Its buffers may be made one by one, as they are read. `release()` is
 * called once.
 */
export interface Document {
  readonly buffers: Iterable<Uint8Array>;
  readonly release: () => void;
}

/** The metrics of a page: those of applications, and those about targets. */
export type PageContent = Pick<ReadyAnswer, 'snapshot' | 'internal'>;

/** A page format, which turns metrics into a page. */
export interface Format {
  readonly contentType: string;
  /** The form of lines that its pages need, so that they need no conversion. */
  form(usesGzip: boolean): LineForm;
  /** Whether the format allows all values of a page. A format without this method allows every value. */
  accepts?(content: PageContent): boolean;
  /** Holds the snapshot before it returns. */
  page(content: PageContent): Page | Promise<Page>;
}

/** The status of a target. */
export interface TargetStatus {
  readonly app: string;
  /** The server key of the chosen root, or the first configured key if no root is chosen. */
  readonly serverKey: string;
  /** The id of the chosen root; empty if no root is chosen. */
  readonly root: string;
  readonly isReady: boolean;
  readonly progress: SyncProgress;
  readonly publisher: Verdict;
  /** The publisher's process. Undefined if the format does not state it, or before a segment is found. */
  readonly process?: PublisherProcess | undefined;
  readonly partition: number;
}

/** The format of a target, and the guarantees about its values. */
export interface FormatInfo {
  readonly name: string;
  readonly certainty: string;
  /** Whether publishers of this format count notifications. */
  readonly notifies: boolean;
}

/** A chosen root and its server key. */
export interface FoundRoot {
  readonly serverKey: string;
  readonly id: string;
}

/** Ages of a target in seconds. */
export interface TargetTimes {
  /** The time since the last change of readiness. */
  readonly sinceSeconds: number;
  /**
   * The age of the target's newest value. Undefined without a root. Also undefined if the publisher neither states a
   * time for its values nor has notified.
   */
  readonly newest: { readonly ageSeconds: number; readonly by: NewestBy } | undefined;
}

/**
 * How the age of the newest value is known. `stated`: the publisher states the time. `notified`: the value is as old
 * as the last notification. `earlier`: the publisher has not notified since the exporter first read its notification
 * count, and the age is the time since that read.
 */
export type NewestBy = 'stated' | 'notified' | 'earlier';

/** The fields of an object or variable to search; `any` searches all of them. */
export const TREE_FIELDS = ['any', 'object', 'class', 'variable', 'metric', 'value'] as const;
export type TreeField = (typeof TREE_FIELDS)[number];

/** Which nodes to show: `metrics` selects nodes with metrics, and `left-out` selects nodes without metrics. */
export const TREE_CHOICES = ['all', 'metrics', 'left-out', 'unsynced'] as const;
export type TreeChoice = (typeof TREE_CHOICES)[number];

/** A bounded query of a part of a target's tree. It is plain data, so that it can cross threads. */
export interface TreeQuery {
  /** The object whose subtree is queried: its id, or its path below the root; empty for the whole tree. */
  readonly object: string;
  /** The number of objects and variables to skip, in the order of the tree. Nodes that do not match also count. */
  readonly from: number;
  /** Words in lower case. Each word must occur in a field of the object or variable. */
  readonly words: readonly string[];
  readonly field: TreeField;
  readonly choice: TreeChoice;
  /** Whether the answer shows, and the search finds, string values that no row reads. */
  readonly showsUnreadTexts: boolean;
  /** The limits of the answer: rows, characters of their texts, and milliseconds of work after `from` is reached. */
  readonly maxRows: number;
  readonly maxCharacters: number;
  readonly maxMs: number;
}

/** A value as the tree page shows it; texts are not escaped. */
export type TreeValue =
  /** The node has no value; `reason` says why. */
  | { readonly kind: 'none'; readonly reason: string }
  /** A number, the numbers of a distribution, or the state of an object. */
  | { readonly kind: 'plain'; readonly text: string }
  /** The beginning of a string value, and the number of characters of the whole value. */
  | { readonly kind: 'text'; readonly text: string; readonly characters: number };

/** A metric of a value: shown, or left out for the reason `why`. */
export interface TreeMetric {
  readonly name: string;
  readonly type: MetricType;
  /** The labels in the syntax of text 0.0.4, without labels that contain the value. */
  readonly labels: string;
  /** The number of shown series. */
  readonly series: number;
  /** Why the metric has no series; empty if it has some. */
  readonly why: string;
}

interface TreeRowFields {
  /** The id of the node, unique in the tree. */
  readonly id: number;
  readonly isSynced: boolean;
  readonly value: TreeValue;
  readonly metrics: readonly TreeMetric[];
  /** Why the node has no metrics. Empty if it has metrics, and for objects whose variables give the reason. */
  readonly why: string;
}

export interface TreeObject extends TreeRowFields {
  readonly kind: 'object';
  /**
   * The object id of the management tree, such as `host.1.ads.userDatabase`. `id` is only the number of the object
   * in the segment.
   */
  readonly name: string;
  readonly className: string;
  /** The number of the object's ancestors. */
  readonly depth: number;
  readonly variables: number;
  readonly children: number;
  /** False for an object that is shown only because a node below it matches. */
  readonly isMatch: boolean;
}

export interface TreeVariable extends TreeRowFields, Pick<Declaration, 'name' | 'type' | 'unit'> {
  readonly kind: 'variable';
  readonly variableKind: VariableKind;
  /** The beginning of the variable's help text. */
  readonly help: string;
}

/** A row of the tree. A variable follows its object, or another variable of that object. */
export type TreeRow = TreeObject | TreeVariable;

/** A part of the current tree. */
export interface TreePart {
  readonly kind: 'part';
  readonly root: string;
  /** Ids of the ancestors of the chosen object, starting with the root. */
  readonly above: readonly string[];
  readonly rows: readonly TreeRow[];
  /** The position of the next part; undefined at the end of the tree. */
  readonly next: number | undefined;
  /** Whether the query ended at its time limit. */
  readonly isLate: boolean;
  /** The numbers of objects and variables that the target tracks; undefined with `last`. */
  readonly tracked: { readonly objects: number; readonly variables: number } | undefined;
  /** Present if the publisher died or hangs: the values are its last ones, and no metrics show them. */
  readonly last?: LastSeen;
}

/** The age of the last values of a publisher. */
export interface LastSeen {
  /** Undefined if the publisher neither states a time nor sends heartbeats. */
  readonly ageSeconds: number | undefined;
  /** The source of the age: the time of the values that the publisher states, or its last heartbeat. */
  readonly by: 'stated' | 'heartbeat';
}

export type TreeAnswer =
  | TreePart
  /**
   * `no-tree`: the target has no tree, for this reason. `no-object`: the tree has no object with the requested id.
   */
  | { readonly kind: 'no-tree'; readonly reason: string }
  | { readonly kind: 'no-object' };

/** A target, as sinks see it. */
export interface Target {
  readonly app: string;
  readonly serverKeys: readonly string[];
  /** The hint for the choice of the target's root: a full root id or an instance number; empty for none. */
  readonly instance: string;
  readonly format: FormatInfo;
  /** Labels of a discovered target from its server key; none for other targets. */
  readonly keyLabels: Readonly<Record<string, string>>;
  /** Whether discovery found the target. Such a target may go at any time. */
  readonly isDiscovered: boolean;
  /** The last chosen root; undefined before a root is chosen. */
  readonly lastRoot: FoundRoot | undefined;
  status(): TargetStatus;
  times(): TargetTimes;
  /** The metadata of the families in the target's last text; undefined before the first text. */
  readonly lastFamilies: readonly FamilyMetadata[] | undefined;
  /**
   * Queries the target's tree: emits one answer and completes. A query is not a demand: it copies and renders no
   * values.
   */
  queryTree(query: TreeQuery): Observable<TreeAnswer>;
  /** The current internal metrics of the target's page. Reading them is not a demand. */
  internal(): readonly InternalMetric[];
  /** The current internal metrics that only `/-/metrics` has. */
  internalDetails(): readonly InternalMetric[];
  /**
   * A demand for all metrics or a scope: emits one answer and completes. Spec 1.9.
   * @param form the form of lines that the caller uses, so that they need no conversion
   */
  demand(scope?: Scope, form?: LineForm): Observable<DemandAnswer>;
}

/** An event of a target, for the log. */
export interface TargetEvent {
  readonly level: LogLevel;
  readonly message: string;
  /** What the message names: a target of the exporter, or a component of the bridge. */
  readonly about?: {
    readonly app?: string;
    readonly component?: string;
    readonly serverKeys: readonly string[];
  };
}

/** How many metrics the exporter shows about itself and its targets. */
export const METRIC_LEVELS = ['full', 'basic'] as const;
export type MetricLevel = (typeof METRIC_LEVELS)[number];

export const LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

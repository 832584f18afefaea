// Shows an instance of Varnish as a tree: a root, and an object for each segment of manager and child.
import type { Budget } from '../budget.js';
import { PolledSource, Slots, gauge } from '../foreign/polled-source.js';
import type { PolledObject } from '../foreign/polled-source.js';
import type { DirectoryPath } from '../foreign/verified-file.js';
import { isGone, pathOf, unreadableReason } from '../foreign/verified-file.js';
import { READY } from './segment-index.js';
import type { Naming } from './names/compat-names.js';
import type { Schema } from './schema.js';
import { HeaderCache, SegmentDirectory } from './segment-directory.js';
import type { VarnishSegmentHeader } from './segment-directory.js';
import type { IndexEntry } from './segment-index.js';
import { SegmentValues, StatSegment } from './stat-segment.js';

/** The number of slots per slab: about as many as a lock, a pool or a backend needs. */
const SLAB = 32;
/** The budget steps for adding a segment, besides one step per value. */
const OPEN_STEPS = 64;

export interface InstanceOptions {
  readonly rootId: string;
  /** The directory of the manager. The caller closes it. */
  readonly manager: SegmentDirectory;
  readonly childPath: DirectoryPath;
  readonly naming: Naming;
  readonly isTrusted: (uid: number) => boolean;
  /** The maximum number of objects and variables of the instance. */
  readonly maxItems: number;
}

interface VisibleSegment {
  readonly directory: SegmentDirectory;
  readonly entry: IndexEntry;
  readonly header: VarnishSegmentHeader;
}

interface ShownSegment extends VisibleSegment {
  readonly schema: Schema;
  readonly segment: StatSegment;
}

export class VarnishInstance {
  readonly source: PolledSource;
  readonly #options: InstanceOptions;
  readonly #root: PolledObject;
  readonly #headers = new HeaderCache();
  /** The keys of segments. Two segments with the same key have the same series. */
  readonly #keys = new WeakMap<IndexEntry, string>();
  /** The segments in the tree, by key. */
  readonly #shown = new Map<string, ShownSegment>();
  #child: SegmentDirectory | undefined;
  /** Removes the start time of the child from the tree. */
  #removeChildStart: (() => void) | undefined;
  #refusals: string[] = [];

  constructor(options: InstanceOptions) {
    this.#options = options;
    const { naming, manager } = options;
    const source = (this.source = new PolledSource(options.maxItems, new Slots(SLAB)));
    const writer = { writeSlots: () => undefined };
    this.#root = source.addObject(writer, { name: options.rootId, className: 'Varnish' });
    const up = gauge('up', 'u64', '', naming.own.up);
    source.slots.setFirst(source.addVariable(writer, this.#root, up).slot, 1n);
    this.#addStartTime('manager', manager);
  }

  /** The number of segments in the tree. */
  get count(): number {
    return this.#shown.size;
  }

  /** The reasons why segments were omitted, one sentence each. */
  get refusals(): readonly string[] {
    return this.#refusals;
  }

  /** Adds and removes segments within the budget. Returns whether the caller must call `update` again. */
  update(budget: Budget): boolean {
    this.#refusals = [];
    this.#followChild();
    this.#updateSchemas();
    const visible = this.#visible();
    for (const [key, shown] of this.#shown) {
      shown.segment.addProbeResult();
      if (isSame(shown, visible.get(key)) && hasSchema(shown) && !shown.segment.isLost) continue;
      shown.segment.remove();
      this.#shown.delete(key);
    }
    for (const [key, found] of visible) {
      if (this.#shown.has(key)) continue;
      if (budget.isSpent) return true;
      this.#show(key, found, budget);
    }
    return false;
  }

  close(): void {
    this.#child?.close();
  }

  #updateSchemas(): void {
    for (const directory of this.#directories())
      try {
        directory.updateSchemas();
      } catch {
        // The exporter omits segments without a readable schema, each with a reason.
      }
  }

  /** Opens the directory of the running child. The directory is missing while the child starts. */
  #followChild(): void {
    try {
      if (this.#child?.update() === true) return;
    } catch (error) {
      this.#refuse(this.#child?.path ?? '', error);
    }
    this.#closeChild();
    const { childPath, isTrusted, naming } = this.#options;
    try {
      this.#child = new SegmentDirectory(childPath, isTrusted);
      if (naming.own.childStart !== undefined)
        this.#removeChildStart = this.#addStartTime('child', this.#child);
    } catch (error) {
      if (!isGone(error)) this.#refuse(pathOf(childPath), error);
    }
  }

  #closeChild(): void {
    for (const [key, { directory, segment }] of this.#shown)
      if (directory === this.#child) {
        segment.remove();
        this.#shown.delete(key);
      }
    this.#removeChildStart?.();
    this.#removeChildStart = undefined;
    this.#child?.close();
    this.#child = undefined;
  }

  /** Adds an object with the start time of a process, if the names have one. Returns a function that removes it. */
  #addStartTime(
    process: 'manager' | 'child',
    { writer }: SegmentDirectory,
  ): (() => void) | undefined {
    const { managerStart, childStart } = this.#options.naming.own;
    const metric = process === 'manager' ? managerStart : childStart;
    if (metric === undefined || writer === undefined) return undefined;
    const { source } = this;
    const slotWriter = { writeSlots: () => undefined };
    const facts = { name: `${this.#root.name}.${process}`, className: 'process' };
    const object = source.addObject(slotWriter, facts, this.#root);
    const started = gauge('started', 'u64', 'seconds', metric);
    source.slots.setFirst(
      source.addVariable(slotWriter, object, started).slot,
      BigInt(writer.birth),
    );
    return () => {
      source.remove(slotWriter, object);
    };
  }

  /** The visible segments. If several have the same series, as after a reload, only the last one is included. */
  #visible(): ReadonlyMap<string, VisibleSegment> {
    const visible = new Map<string, VisibleSegment>();
    this.#headers.startPoll();
    for (const directory of this.#directories()) {
      const { entries, leftOut } = directory.index;
      if (leftOut > 0)
        this.#refusals.push(`${directory.path} has ${leftOut} segments beyond the limit`);
      for (const entry of entries) {
        if (entry.className !== 'Stat') continue;
        const header = this.#headerOf(directory, entry);
        if (header?.ready !== READY.visible) continue;
        visible.set(this.#keyOf(entry), { directory, entry, header });
      }
    }
    return visible;
  }

  #keyOf(entry: IndexEntry): string {
    const key = this.#keys.get(entry) ?? this.#options.naming.keyOf(entry.ident);
    this.#keys.set(entry, key);
    return key;
  }

  #headerOf(directory: SegmentDirectory, entry: IndexEntry): VarnishSegmentHeader | undefined {
    try {
      return this.#headers.get(directory, entry);
    } catch (error) {
      // The file was just removed, and the index will soon omit it too.
      if (!isGone(error)) this.#refuse(entry.ident, error);
      return undefined;
    }
  }

  /** Adds a segment to the tree if it can be read. */
  #show(key: string, { directory, entry, header }: VisibleSegment, budget: Budget): void {
    const { source } = this;
    const { naming } = this.#options;
    const { ident } = entry;
    try {
      const schema = directory.schema(header.schemaId);
      if (schema === undefined) return;
      if (!source.hasRoom(1 + schema.fields.length)) {
        this.#refusals.push(`${ident} would exceed segment_max_items`);
        return;
      }
      const values = new SegmentValues(directory, entry, header, schema);
      if (!values.copy()) return;
      const segment = new StatSegment({
        ...{ source, naming, ident, schema, values },
        root: this.#root,
        startedUnixMs: directory.writer && directory.writer.birth * 1000,
      });
      this.#shown.set(key, { directory, entry, header, schema, segment });
      // Only shown segments cost budget: omitted segments cost little time, and must not delay other segments.
      budget.spend(OPEN_STEPS + schema.fields.length);
    } catch (error) {
      this.#refuse(ident, error);
    }
  }

  #directories(): readonly SegmentDirectory[] {
    const { manager } = this.#options;
    return this.#child === undefined ? [manager] : [manager, this.#child];
  }

  #refuse(what: string, error: unknown): void {
    this.#refusals.push(`${what} ${unreadableReason(error)}`);
  }
}

const isSame = (shown: VisibleSegment, found: VisibleSegment | undefined): boolean =>
  shown.entry === found?.entry &&
  shown.directory === found.directory &&
  shown.header.schemaId === found.header.schemaId &&
  shown.header.bodyOffset === found.header.bodyOffset;

/** Whether a segment still has the same schema; a missing schema counts as unchanged. */
function hasSchema({ directory, header, schema }: ShownSegment): boolean {
  try {
    const now = directory.schema(header.schemaId);
    return now === undefined || now === schema;
  } catch {
    return false;
  }
}

// Reads a segment as a source: its directory as a tree of managed objects, its values as slots.
import { Budget } from '../../budget.js';
import type { Fault } from '../../errors.js';
import type { Frame, Source, StructureChange, StructureChanges, Variable } from '../../model.js';
import { DirectoryReader } from './directory-reader.js';
import type { RecordBatch } from './directory-reader.js';
import { FrameReader } from './frame-reader.js';
import { LIMITS, RECORD_WORDS } from './layout.js';
import { RecordParser } from './record-parser.js';
import type { DirectoryRecord } from './record-parser.js';
import { corrupt } from './segment-header.js';
import type { MutableFields, SegmentHeader } from './segment-header.js';
import type { SegmentFile } from '../os/shared-memory.js';
import { Tree } from './tree.js';

/** Default limit of live objects and variables; larger segments are rejected. */
const MAX_ITEMS = 1 << 21;
/** Default work budget of one `readChanges`. */
export const CHANGE_STEPS = 8192;
/** Budget steps for reading a record, and for removing an item. Checking an item takes one step. */
const RECORD_STEPS = 8;
const REMOVAL_STEPS = 8;

export class SegmentSource implements Source {
  readonly #file: SegmentFile;
  readonly #header: SegmentHeader;
  readonly #directory: DirectoryReader;
  readonly #parser: RecordParser;
  readonly #frames: FrameReader;
  readonly #tree = new Tree();
  readonly #maxItems: number;
  readonly #word = Buffer.alloc(4);
  #lastId = 0;
  /** True after a switch, while the new directory is read: items that the new directory lacks were removed. */
  #hasSwitched = false;
  /** Copied records that are not all applied yet. */
  #batch: RecordBatch | undefined;
  /** The offset in words of the first record of the batch that is not applied yet. */
  #at = 0;
  /** The sweep of missing items, while it runs. */
  #sweep: Iterator<StructureChange | undefined, void> | undefined;

  constructor(file: SegmentFile, header: SegmentHeader, maxItems = MAX_ITEMS) {
    this.#maxItems = maxItems;
    this.#file = file;
    this.#header = header;
    this.#directory = new DirectoryReader(file, header);
    this.#parser = new RecordParser(header, this.#directory);
    this.#frames = new FrameReader(file, header.frames);
  }

  get generation(): string {
    return this.#header.generation.toString(16);
  }

  get startedUnixMs(): number {
    return Number(this.#header.startedRealtimeNs / 1_000_000n);
  }

  get roots() {
    return this.#tree.roots;
  }

  /** @param fields the mutable fields, if the caller has just read them */
  readChanges(
    budget = new Budget({ steps: CHANGE_STEPS }),
    fields?: MutableFields,
  ): StructureChanges {
    const changes: StructureChange[] = [];
    // Removed items count towards the limit until they are freed, so free them before reading anything.
    if (this.#tree.reclaim(budget))
      return { changes, hasMore: this.#hasUnread, isReclaiming: true };
    // No records are read before the sweep ends. New records may have arrived meanwhile, so ask the directory.
    if (this.#sweep !== undefined)
      return {
        changes,
        hasMore: this.#continueSweep(changes, budget) || this.#directory.hasChanges(),
      };
    if (!this.#hasSwitched && this.#tree.size > this.#maxItems) throw this.#tooMany();
    // A batch that an earlier call copied may no longer reach the end of the directory.
    const isOld = this.#batch !== undefined;
    const batch = (this.#batch ??= this.#nextBatch(fields));
    if (batch === undefined) return { changes, hasMore: false };
    this.#apply(batch, changes, budget);
    if (this.#at < batch.words.length) return { changes, hasMore: true };
    this.#batch = undefined;
    this.#parser.forget();
    if (!batch.isLast) return { changes, hasMore: true };
    if (this.#hasSwitched) this.#sweep = this.#tree.sweep();
    this.#hasSwitched = false;
    const hasMore = this.#continueSweep(changes, budget) || (isOld && this.#directory.hasChanges());
    return { changes, hasMore, isReclaiming: this.#tree.reclaim(budget) };
  }

  hasChanges(): boolean {
    try {
      return this.#hasUnread;
    } catch {
      // The next read reports the error.
      return true;
    }
  }

  get #hasUnread(): boolean {
    if (this.#sweep !== undefined || this.#batch !== undefined) return true;
    return this.#directory.hasChanges();
  }

  readSlots(first: number, count: number, into: Uint8Array): number {
    return this.#read(this.#header.slots, 8, first, count, into);
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    return this.#read(this.#header.words, 4, first, count, into);
  }

  get frameBytes(): number {
    return this.#header.frameCapacity;
  }

  readFrame(variable: Variable, budget?: Budget): Frame | undefined {
    const { slot, incarnation, declaration } = variable;
    const location = this.#tree.frame(variable);
    const frame =
      location === undefined ? undefined : this.#frames.read(location, declaration, budget);
    // The copy is the variable's own frame only if the variable still has its slot after the copy.
    this.readWords(slot, 1, this.#word);
    return this.#word.readUInt32LE(0) >>> 1 === incarnation ? frame : undefined;
  }

  #nextBatch(fields: MutableFields | undefined): RecordBatch | undefined {
    const batch = this.#directory.next(fields);
    if (batch?.isNewDirectory === true) {
      this.#hasSwitched = this.#tree.size > 0;
      this.#tree.beginRound();
      this.#lastId = 0;
    }
    this.#at = 0;
    return batch;
  }

  /** Applies records of a batch, at least one, within the budget. */
  #apply({ words, firstIndex }: RecordBatch, changes: StructureChange[], budget: Budget): void {
    while (this.#at < words.length) {
      // Stop, so that the caller can free removed items: they must not count towards the limit.
      if (this.#tree.isReclaiming && this.#tree.size >= this.#itemLimit) return;
      const record = this.#parser.parse(words, this.#at, firstIndex + this.#at / RECORD_WORDS);
      this.#at += RECORD_WORDS;
      const change = this.#applyRecord(record);
      if (change !== undefined) changes.push(change);
      budget.spend(RECORD_STEPS);
      if (budget.isSpent) return;
    }
  }

  /** Removes missing items within the budget; false once all are removed. */
  #continueSweep(changes: StructureChange[], budget: Budget): boolean {
    while (this.#sweep !== undefined) {
      if (budget.isSpent) return true;
      const { done, value } = this.#sweep.next();
      budget.spend(value === undefined ? 1 : REMOVAL_STEPS);
      if (done === true) this.#sweep = undefined;
      else if (value !== undefined) changes.push(value);
    }
    return false;
  }

  /** The limit of items. It is doubled after a switch, since missing items count until the sweep removes them. */
  get #itemLimit(): number {
    return this.#hasSwitched ? 2 * this.#maxItems : this.#maxItems;
  }

  #tooMany(): Fault {
    return corrupt(`it has more than ${this.#maxItems} objects and variables (segment_max_items)`);
  }

  /** Copies fixed-size entries of a region; returns the number of complete entries. */
  #read(region: number, size: number, first: number, count: number, into: Uint8Array): number {
    const length = Math.min(count, this.#header.slotCapacity - first) * size;
    if (length <= 0) return 0;
    return Math.floor(this.#file.read(into, length, region + first * size) / size);
  }

  #applyRecord(record: DirectoryRecord): StructureChange | undefined {
    if (record.kind === 'tombstone') return this.#tree.remove(record.id);
    const { id } = record;
    if (id <= this.#lastId)
      throw corrupt(`id ${id} follows id ${this.#lastId}, but ids must ascend`);
    this.#lastId = id;
    if (id <= this.#tree.highestId) {
      // After a switch, the directory repeats known items.
      const isKnown =
        record.kind === 'object'
          ? this.#tree.markObject(id)
          : this.#tree.markVariable(id, record.objectId);
      if (isKnown) return undefined;
      throw corrupt(`id ${id} is repeated, or out of order`);
    }
    if (this.#tree.size >= this.#itemLimit) throw this.#tooMany();
    if (record.kind === 'object') {
      const { parentId } = record;
      const parent = this.#tree.object(parentId);
      if (parentId !== 0 && parent === undefined)
        throw corrupt(`object ${id} has the parent ${parentId}, which does not exist`);
      if ((parent?.depth ?? 0) >= LIMITS.depth)
        throw corrupt(`object ${id} is too deep below its root`);
      return this.#tree.addObject(record, parent);
    }
    const object = this.#tree.object(record.objectId);
    if (object === undefined)
      throw corrupt(`variable ${id} belongs to object ${record.objectId}, which does not exist`);
    return this.#tree.addVariable(record, object);
  }
}

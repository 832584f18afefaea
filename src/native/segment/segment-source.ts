// A segment as a source of managed objects: its directory as a tree, its values as slots.
import { Budget } from '../../budget.js';
import type { Fault } from '../../errors.js';
import type { Frame, Source, StructureChange, StructureChanges, Variable } from '../../model.js';
import { DirectoryReader } from './directory-reader.js';
import type { RecordSlice } from './directory-reader.js';
import { FrameReader } from './frame-reader.js';
import { RECORD_WORDS } from './layout.js';
import { RecordParser } from './record-parser.js';
import type { DirectoryRecord } from './record-parser.js';
import { corrupt } from './segment-header.js';
import type { SegmentHeader } from './segment-header.js';
import type { SegmentFile } from '../os/shared-memory.js';
import { Tree, isTooDeep } from './tree.js';

/** The most live objects and variables that a reader keeps by default; it rejects a larger segment. */
const MAX_ITEMS = 1 << 21;
/** What one call may take by default: others wait for it. */
export const SYNC_STEPS = 8192;
/** Steps of a record that is read and of an item that is removed; to look at an item is one. */
const RECORD_STEPS = 8;
const REMOVAL_STEPS = 8;

/** Records that were copied, and how many words of them are taken in. */
interface CopiedSlice extends RecordSlice {
  at: number;
}

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
  /**
   * True while the other directory is read after a change of roles: items missing from it were
   * removed.
   */
  #hasTakenOver = false;
  /** The records that were copied last and are not taken in yet. */
  #copied: CopiedSlice | undefined;
  /** The running sweep that removes them. */
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

  get roots() {
    return this.#tree.roots;
  }

  sync(budget = new Budget({ steps: SYNC_STEPS })): StructureChanges {
    const changes: StructureChange[] = [];
    // Nothing is read before removed items are let go of: they count as there until then.
    if (this.#tree.reclaim(budget))
      return { changes, hasMore: this.#hasUnread, isReclaiming: true };
    // Nor before the sweep ends. Many records may have arrived meanwhile.
    if (this.#sweep !== undefined)
      return { changes, hasMore: this.#sweepOn(changes, budget) || this.#directory.hasChanges() };
    if (!this.#hasTakenOver && this.#tree.size > this.#maxItems) throw this.#tooMany();
    // Copied by an earlier call, it may not be the last any more.
    const isOld = this.#copied !== undefined;
    const slice = (this.#copied ??= this.#nextSlice());
    if (slice === undefined) return { changes, hasMore: false };
    this.#takeIn(slice, changes, budget);
    if (slice.at < slice.words.length) return { changes, hasMore: true };
    this.#copied = undefined;
    if (!slice.isLast) return { changes, hasMore: true };
    if (this.#hasTakenOver) this.#sweep = this.#tree.sweep();
    this.#hasTakenOver = false;
    const hasMore = this.#sweepOn(changes, budget) || (isOld && this.#directory.hasChanges());
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
    if (this.#sweep !== undefined || this.#copied !== undefined) return true;
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
    const { id, slot, incarnation, declaration } = variable;
    const place = this.#tree.frame(id);
    const frame = place === undefined ? undefined : this.#frames.read(place, declaration, budget);
    // The frame belongs to the variable only if its slot still did during the copy.
    this.readWords(slot, 1, this.#word);
    return this.#word.readUInt32LE(0) >>> 1 === incarnation ? frame : undefined;
  }

  /** Copies the next records. */
  #nextSlice(): CopiedSlice | undefined {
    const slice = this.#directory.next();
    if (slice?.isFresh === true) {
      this.#hasTakenOver = this.#tree.size > 0;
      this.#tree.beginRound();
      this.#lastId = 0;
    }
    if (slice === undefined) return undefined;
    // Property by property, as in tree.ts: each record looks at it.
    const { words, firstIndex, isFresh, isLast } = slice;
    return { words, firstIndex, isFresh, isLast, at: 0 };
  }

  /** Applies records of a slice, at least one, and adds what changed to `changes`. */
  #takeIn(slice: CopiedSlice, changes: StructureChange[], budget: Budget): void {
    const { words, firstIndex } = slice;
    while (slice.at < words.length) {
      // What was removed does not count against what comes: it is let go of first.
      if (this.#tree.isReclaiming && this.#tree.size >= this.#mostItems) return;
      const record = this.#parser.parse(words, slice.at, firstIndex + slice.at / RECORD_WORDS);
      slice.at += RECORD_WORDS;
      const change = this.#apply(record);
      if (change !== undefined) changes.push(change);
      budget.spend(RECORD_STEPS);
      if (budget.isSpent) return;
    }
  }

  /** Removes the next missing items and adds them to `changes`; false once none is left. */
  #sweepOn(changes: StructureChange[], budget: Budget): boolean {
    while (this.#sweep !== undefined) {
      if (budget.isSpent) return true;
      const { done, value } = this.#sweep.next();
      budget.spend(value === undefined ? 1 : REMOVAL_STEPS);
      if (done === true) this.#sweep = undefined;
      else if (value !== undefined) changes.push(value);
    }
    return false;
  }

  /** While the other directory is read, with what the sweep removes after that. */
  get #mostItems(): number {
    return this.#hasTakenOver ? 2 * this.#maxItems : this.#maxItems;
  }

  #tooMany(): Fault {
    return corrupt(`it has more than ${this.#maxItems} objects and variables (segment_max_items)`);
  }

  /** Copies fixed-size entries of a region; counts those that are complete. */
  #read(region: number, size: number, first: number, count: number, into: Uint8Array): number {
    const length = Math.min(count, this.#header.slotCapacity - first) * size;
    if (length <= 0) return 0;
    return Math.floor(this.#file.read(into, length, region + first * size) / size);
  }

  #apply(record: DirectoryRecord): StructureChange | undefined {
    if (record.kind === 'tombstone') return this.#tree.remove(record.id);
    const { id } = record;
    if (id <= this.#lastId) throw corrupt(`id ${id} comes after id ${this.#lastId}`);
    this.#lastId = id;
    // After a change of roles, the directory repeats known items.
    if (this.#tree.name(id)) return undefined;
    if (id <= this.#tree.highestId) throw corrupt(`id ${id} is there again, or came too late`);
    if (this.#tree.size >= this.#mostItems) throw this.#tooMany();
    if (record.kind === 'object') {
      const { parentId } = record;
      const parent = this.#tree.object(parentId);
      if (parentId !== 0 && parent === undefined)
        throw corrupt(`object ${id} hangs below object ${parentId}, which is not there`);
      if (isTooDeep(parent)) throw corrupt(`object ${id} is too deep below its root`);
      return this.#tree.addObject(record, parent);
    }
    const object = this.#tree.object(record.objectId);
    if (object === undefined)
      throw corrupt(`variable ${id} belongs to object ${record.objectId}, which is not there`);
    return this.#tree.addVariable(record, object);
  }
}

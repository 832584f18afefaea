// A segment as a source of managed objects: its directory as a tree, its values as slots.
import type {
  Allowance,
  Frame,
  Source,
  StructureChange,
  StructureChanges,
  Variable,
} from '../../model.js';
import { DirectoryReader } from './directory-reader.js';
import type { RecordSlice } from './directory-reader.js';
import { FrameReader } from './frame-reader.js';
import { RECORD_SIZE } from './layout.js';
import { parseRecord } from './record-parser.js';
import type { DirectoryRecord } from './record-parser.js';
import { corrupt } from './segment-header.js';
import type { SegmentHeader } from './segment-header.js';
import type { SegmentFile } from '../os/shared-memory.js';
import { MAX_NODES, Tree, isTooDeep } from './tree.js';

/** How many items a sweep after a change of roles checks and removes in one call. */
const SWEPT_AT_ONCE = 8192;
const REMOVED_AT_ONCE = 1024;

export class SegmentSource implements Source {
  readonly #file: SegmentFile;
  readonly #header: SegmentHeader;
  readonly #directory: DirectoryReader;
  readonly #frames: FrameReader;
  readonly #tree = new Tree();
  readonly #word = Buffer.alloc(4);
  #lastId = 0;
  /**
   * True while the other directory is read after a change of roles: items missing from it were
   * removed.
   */
  #hasTakenOver = false;
  /** The running sweep that removes them. */
  #sweep: Iterator<StructureChange | undefined, void> | undefined;

  constructor(file: SegmentFile, header: SegmentHeader) {
    this.#file = file;
    this.#header = header;
    this.#directory = new DirectoryReader(file, header);
    this.#frames = new FrameReader(file, header.frames);
  }

  get generation(): string {
    return this.#header.generation.toString(16);
  }

  get roots() {
    return this.#tree.roots;
  }

  sync(): StructureChanges {
    const changes: StructureChange[] = [];
    // Nothing is read before the sweep ends. Many records may have arrived meanwhile.
    if (this.#sweep !== undefined)
      return { changes, hasMore: this.#sweepOn(changes) || this.#directory.hasNews() };
    const slice = this.#directory.next();
    if (slice === undefined) return { changes, hasMore: false };
    if (slice.isFresh) {
      this.#hasTakenOver = this.#tree.size > 0;
      this.#tree.beginRound();
      this.#lastId = 0;
    }
    for (const record of this.#records(slice)) {
      const change = this.#apply(record);
      if (change !== undefined) changes.push(change);
    }
    if (!slice.isLast) return { changes, hasMore: true };
    if (this.#hasTakenOver) this.#sweep = this.#tree.sweep();
    this.#hasTakenOver = false;
    return { changes, hasMore: this.#sweepOn(changes) };
  }

  hasNews(): boolean {
    if (this.#sweep !== undefined) return true;
    try {
      return this.#directory.hasNews();
    } catch {
      // The next read reports the error.
      return true;
    }
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

  readFrame(variable: Variable, allowance?: Allowance): Frame | undefined {
    const { id, slot, incarnation, declaration } = variable;
    const place = this.#tree.frame(id);
    const frame =
      place === undefined ? undefined : this.#frames.read(place, declaration, allowance);
    // The frame belongs to the variable only if its slot still did during the copy.
    this.readWords(slot, 1, this.#word);
    return this.#word.readUInt32LE(0) >>> 1 === incarnation ? frame : undefined;
  }

  /** Removes the next missing items and adds them to `changes`; false once none is left. */
  #sweepOn(changes: StructureChange[]): boolean {
    const most = changes.length + REMOVED_AT_ONCE;
    for (let looked = 0; looked < SWEPT_AT_ONCE && changes.length < most; looked++) {
      const step = this.#sweep?.next();
      if (step === undefined || step.done === true) {
        this.#sweep = undefined;
        return false;
      }
      if (step.value !== undefined) changes.push(step.value);
    }
    return true;
  }

  /** Copies fixed-size entries of a region; counts those that are complete. */
  #read(region: number, size: number, first: number, count: number, into: Uint8Array): number {
    const length = Math.min(count, this.#header.slotCapacity - first) * size;
    if (length <= 0) return 0;
    return Math.floor(this.#file.read(into, length, region + first * size) / size);
  }

  *#records({ records, firstIndex }: RecordSlice): Generator<DirectoryRecord> {
    for (let at = 0; at < records.length; at += RECORD_SIZE) {
      const index = firstIndex + at / RECORD_SIZE;
      yield parseRecord(records, at, index, this.#header, this.#directory);
    }
  }

  #apply(record: DirectoryRecord): StructureChange | undefined {
    if (record.kind === 'tombstone') return this.#tree.remove(record.id);
    const { id } = record.facts;
    if (id <= this.#lastId) throw corrupt(`id ${id} comes after id ${this.#lastId}`);
    this.#lastId = id;
    // After a change of roles, the directory repeats known items.
    if (this.#tree.name(id)) return undefined;
    if (this.#tree.size >= MAX_NODES)
      throw corrupt(`it has more than ${MAX_NODES} objects and variables`);
    if (record.kind === 'object') {
      const { parentId } = record;
      const parent = this.#tree.object(parentId);
      if (parentId !== 0 && parent === undefined)
        throw corrupt(`object ${id} hangs below object ${parentId}, which is not there`);
      if (isTooDeep(parent)) throw corrupt(`object ${id} is too deep below its root`);
      return this.#tree.addObject(record.facts, parent);
    }
    const object = this.#tree.object(record.objectId);
    if (object === undefined)
      throw corrupt(`variable ${id} belongs to object ${record.objectId}, which is not there`);
    return this.#tree.addVariable(record.facts, object);
  }
}

// A block: consecutive lines of one family, which are stored, sorted and compressed together. The lines are in the
// kernel's memory, as layout.ts draws them.
import type { FamilyMetadata } from '../../model.js';
import { DeflatedLines } from '../compress/deflated-lines.js';
import type { Kernel } from '../wasm/kernel.js';
import {
  BLOCK_BYTES,
  BLOCK_CAPACITY,
  BLOCK_COUNT,
  BLOCK_DEFLATE_DIRTY,
  BLOCK_ENTRIES,
  BLOCK_IS_SORTED,
  BLOCK_MESSAGES_DIRTY,
  BLOCK_ORDER,
  BLOCK_TEXT_DIRTY,
  ENTRY_BITS,
  ENTRY_BYTES,
  ENTRY_CELL,
  ENTRY_HASH,
  ENTRY_LABELS,
  ENTRY_NAME,
  ENTRY_OPCODE,
  ENTRY_SERIES_INDEX,
  LINES_CHANGED,
  ORDER_BYTES,
  VALUE_LENGTH_BYTES,
  VALUE_OFFSET_BYTES,
} from '../wasm/layout.js';
import type { StoredText } from '../wasm/memory.js';
import { labelsOf } from './line.js';
import type { Line, LineKey } from './line.js';

/** The typical size of a value with its space and line feed. */
const VALUE_BYTES = 10;

/** The maximum number of bytes of a line's value: 25 bytes (-0.0000012345678901234567) and the line feed. */
export const MAX_VALUE_BYTES = 26;
/** Checking a block for changes, or starting to write it, takes as long as writing this many bytes of text. */
export const BYTES_A_BLOCK = 128;

/** The bytes for each line: those of the arrays before `order`, and those of all arrays. */
const ORDER_OFFSET = ENTRY_BYTES + VALUE_OFFSET_BYTES;
const LINE_BYTES = ORDER_OFFSET + ORDER_BYTES + VALUE_LENGTH_BYTES;
const FIRST_CAPACITY = 4;
/** A block whose capacity is this many times its number of lines shrinks to twice that number. */
const SPARSE_RATIO = 8;

/** Rounds up to a power of two. */
const capacityFor = (lines: number): number =>
  Math.max(FIRST_CAPACITY, 2 ** Math.ceil(Math.log2(lines)));

/** Consecutive lines of one family, in the order of their keys. The chunk of the block writes their text. */
export class Block {
  readonly #kernel: Kernel;
  /** The lines as a deflate block. */
  readonly deflated: DeflatedLines;
  readonly family: FamilyMetadata;
  /** The address of the header. */
  readonly address: number;
  #blockNumber: number;
  #at: number;
  #capacity: number;
  #count = 0;
  /** The free entries, which belonged to removed lines. */
  #free: number[] = [];
  /** Bytes of all names and labels. */
  #textBytes = 0;

  /** @param capacity the number of lines to allocate memory for */
  constructor(kernel: Kernel, family: FamilyMetadata, capacity = FIRST_CAPACITY) {
    const { arena, blocks } = kernel;
    this.#kernel = kernel;
    this.family = family;
    this.#capacity = capacity;
    const [at, address, number] = arena.allocateFor(capacity * LINE_BYTES, (linesAt) =>
      arena.allocateFor(
        BLOCK_BYTES,
        (headerAt) => [linesAt, headerAt, blocks.assign(headerAt)] as const,
      ),
    );
    this.#at = at;
    this.#blockNumber = number;
    this.address = address;
    kernel.bytes.fill(0, address, address + BLOCK_BYTES);
    this.deflated = new DeflatedLines(kernel, this);
    this.#writeAddresses();
    this.#setCount(0);
  }

  get count(): number {
    return this.#count;
  }
  /** The number of lines that the block has memory for. */
  get capacity(): number {
    return this.#capacity;
  }
  /** Bytes of all names and labels. */
  get textBytes(): number {
    return this.#textBytes;
  }
  /** The approximate size of the lines as text, with the cost of the block itself. */
  get bytes(): number {
    return this.#textBytes + this.#count * VALUE_BYTES + BYTES_A_BLOCK;
  }
  /** The maximum number of bytes that the lines may take as text. */
  get maxBytes(): number {
    return this.#textBytes + this.#count * MAX_VALUE_BYTES;
  }

  /** Whether values changed, or lines were added or removed, since the text was written. */
  get isTextDirty(): boolean {
    return this.#header(BLOCK_TEXT_DIRTY) !== 0;
  }

  /** The dirty flags of the protobuf messages; 0 if they are current. */
  get messagesDirtyFlags(): number {
    return this.#header(BLOCK_MESSAGES_DIRTY);
  }

  /** Writes the text of the lines to memory of `maxBytes` bytes; returns its length. A chunk must write it again. */
  write(address: number): number {
    this.sort();
    const bytes = this.#kernel.run.render(this.address, 0, 0, address);
    // The kernel has noted where the values are in this text.
    this.#setHeader(BLOCK_TEXT_DIRTY, LINES_CHANGED);
    return bytes;
  }

  /** Returns a negative number if all lines are before `key`, a positive number if all are after it, else 0. */
  compare(key: LineKey): number {
    if (this.#count === 0) return 0;
    if (this.#compareAt(this.#count - 1, key) < 0) return -1;
    return this.#compareAt(0, key) > 0 ? 1 : 0;
  }

  /** The index of the line with `key`. For a missing line, `-1 - i` if it belongs at the index `i`. */
  find(key: LineKey): number {
    let low = 0;
    let high = this.#count;
    // Lines usually arrive in order.
    if (high > 0 && this.#compareAt(high - 1, key) < 0) return -1 - high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compareAt(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low < this.#count && this.#compareAt(low, key) === 0 ? low : -1 - low;
  }

  /** See `seriesHash`. */
  hash(index: number): number {
    return this.#kernel.f64[(this.#entryOf(this.#entry(index)) + ENTRY_HASH) >>> 3] ?? 0;
  }

  /** The id of the object or variable of a line. */
  nodeId(index: number): number {
    return this.#kernel.f64[this.#entryOf(this.#entry(index)) >>> 3] ?? 0;
  }

  /** How the kernel reads the value of a line; see `Line`. */
  opcode(index: number): number {
    return this.#field(this.#entry(index), ENTRY_OPCODE);
  }

  /** Bytes of the name and labels of a line. */
  lineBytes(index: number): number {
    return this.#textBytesOf(this.#entry(index));
  }

  /** Inserts a line into a block with fewer than `MAX_LINES` lines; returns the bytes of its name and labels. */
  insert(index: number, key: LineKey, name: StoredText, line: Line, hash: number): number {
    this.#reserve(this.#count + 1);
    const { run, texts } = this.#kernel;
    const { labels, constant, cell, opcode } = line;
    const nameAt = name.address;
    const isOwn = typeof labels === 'string' || constant !== '';
    const labelsAt = isOwn ? texts.store(labelsOf(line) + constant, 0) : labels.address;
    const entry = this.#free.pop() ?? this.#count;
    const { nodeId, seriesIndex } = key;
    const bytes = run.insert(
      this.address,
      index,
      entry,
      this.#lineId(entry),
      nodeId,
      seriesIndex,
      hash,
      nameAt,
      labelsAt,
      cell,
      opcode,
    );
    this.#count++;
    this.#textBytes += bytes;
    return bytes;
  }

  /** Removes a line; returns the bytes of its name and labels. */
  remove(index: number): number {
    const entry = this.#entry(index);
    const cell = this.#field(entry, ENTRY_CELL);
    if (cell !== 0) this.#kernel.run.relink(cell, this.#lineId(entry), 0);
    const at = this.#orderAt + index * ORDER_BYTES;
    this.#kernel.run.copy(at, at + ORDER_BYTES, (this.#count - 1 - index) * ORDER_BYTES);
    if (index !== this.#count - 1) this.#setHeader(BLOCK_IS_SORTED, 0);
    this.#free.push(entry);
    this.#setCount(this.#count - 1);
    const bytes = this.#textBytesOf(entry);
    this.#textBytes -= bytes;
    this.#releaseTexts(entry);
    return bytes;
  }

  /** Moves the lines from `index` on to the end of `other`; moves none if memory runs out. */
  moveTail(index: number, other: Block): void {
    other.#reserve(other.#count + this.#count - index);
    for (let i = index; i < this.#count; i++) {
      const from = this.#entry(i);
      const to = other.#append();
      const at = this.#entryOf(from);
      this.#kernel.run.copy(other.#entryOf(to), at, ENTRY_BYTES);
      const cell = this.#field(from, ENTRY_CELL);
      if (cell !== 0) this.#kernel.run.relink(cell, this.#lineId(from), other.#lineId(to));
      const bytes = this.#textBytesOf(from);
      this.#textBytes -= bytes;
      other.#textBytes += bytes;
    }
    // Push the lowest entry last, so that it is reused first and lines that are added later may be in order again.
    for (let i = this.#count; i-- > index;) this.#free.push(this.#entry(i));
    this.#setCount(index);
  }

  /**
   * Sorts the entries into the order of the lines, so that the kernel reads them sequentially. Frees memory of
   * removed lines. If this changes anything, text and deflate block are dirty afterwards.
   */
  sort(): void {
    if (this.#header(BLOCK_IS_SORTED) === 0) this.#sortEntries();
    if (this.#capacity <= FIRST_CAPACITY || this.#capacity < SPARSE_RATIO * this.#count) return;
    // The block is sorted, so all entry numbers are smaller than the number of lines, and new lines need no list of free
    // entries.
    this.#free = [];
    this.#resize(capacityFor(2 * this.#count));
  }

  #sortEntries(): void {
    const { arena, blocks, run } = this.#kernel;
    const [former, formerNumber] = [this.#at, this.#blockNumber];
    const [at, number] = arena.allocateFor(
      this.#capacity * LINE_BYTES,
      (linesAt) => [linesAt, blocks.assign(this.address)] as const,
    );
    this.#at = at;
    this.#blockNumber = number;
    run.sort(this.address, formerNumber, number, former, at);
    for (let index = 0; index < this.#count; index++) this.#setEntry(index, index);
    this.#free = [];
    this.#setHeader(BLOCK_IS_SORTED, 1);
    this.#markLinesChanged();
    this.#writeAddresses();
    blocks.release(formerNumber);
    arena.free(former, this.#capacity * LINE_BYTES);
  }

  /** Frees everything. After that, no cell of its lines may be marked as changed. */
  close(): void {
    this.deflated.close();
    for (let index = 0; index < this.#count; index++) this.#releaseTexts(this.#entry(index));
    this.#count = 0;
    this.#kernel.blocks.release(this.#blockNumber);
    this.#kernel.arena.free(this.#at, this.#capacity * LINE_BYTES);
    this.#kernel.arena.free(this.address, BLOCK_BYTES);
  }

  /** Adds an entry for a line that follows all others. Allocates no memory. Returns the entry. */
  #append(): number {
    const entry = this.#free.pop() ?? this.#count;
    this.#setEntry(this.#count, entry);
    if (entry !== this.#count) this.#setHeader(BLOCK_IS_SORTED, 0);
    this.#setCount(this.#count + 1);
    return entry;
  }

  #setCount(count: number): void {
    this.#count = count;
    this.#setHeader(BLOCK_COUNT, count);
    this.#markLinesChanged();
    if (count > 0) return;
    this.#free = [];
    this.#setHeader(BLOCK_IS_SORTED, 1);
  }

  #markLinesChanged(): void {
    this.#setHeader(BLOCK_TEXT_DIRTY, LINES_CHANGED);
    this.#setHeader(BLOCK_DEFLATE_DIRTY, LINES_CHANGED);
    this.#setHeader(BLOCK_MESSAGES_DIRTY, LINES_CHANGED);
  }

  #header(field: number): number {
    return this.#kernel.u32[(this.address + field) >>> 2] ?? 0;
  }

  #setHeader(field: number, value: number): void {
    this.#kernel.u32[(this.address + field) >>> 2] = value;
  }

  /** Ensures memory for this many lines; changes nothing if memory runs out. */
  #reserve(lines: number): void {
    if (lines > this.#capacity) this.#resize(capacityFor(lines));
  }

  /** Reallocates the arrays for this many lines. All entry numbers must be smaller than `capacity`. */
  #resize(capacity: number): void {
    const { arena, run } = this.#kernel;
    const [former, was] = [this.#at, this.#capacity];
    // Allocate first. Allocation can fail, and no state may change before it succeeds.
    this.#at = arena.allocate(capacity * LINE_BYTES);
    this.#capacity = capacity;
    const kept = Math.min(was, capacity);
    run.copy(this.#at, former, kept * ENTRY_BYTES);
    // Offsets and lengths are not copied, so the text must be written again.
    this.#markLinesChanged();
    const order = former + was * ORDER_OFFSET;
    run.copy(this.#orderAt, order, kept * ORDER_BYTES);
    arena.free(former, was * LINE_BYTES);
    this.#writeAddresses();
  }

  /** Writes the addresses of the arrays into the header. */
  #writeAddresses(): void {
    this.#setHeader(BLOCK_ENTRIES, this.#at);
    this.#setHeader(BLOCK_ORDER, this.#orderAt);
    this.#setHeader(BLOCK_CAPACITY, this.#capacity);
  }

  /** The address of an entry. */
  #entryOf(entry: number): number {
    return this.#at + entry * ENTRY_BYTES;
  }

  get #orderAt(): number {
    return this.#at + this.#capacity * ORDER_OFFSET;
  }

  #setEntry(index: number, entry: number): void {
    const { bytes } = this.#kernel;
    const at = this.#orderAt + index * ORDER_BYTES;
    bytes[at] = entry & 0xff;
    bytes[at + 1] = entry >>> 8;
  }

  /** The entry of the line at an index. */
  #entry(index: number): number {
    const { bytes } = this.#kernel;
    const at = this.#orderAt + index * ORDER_BYTES;
    return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  }

  /** Bytes of the name and labels of an entry. */
  #textBytesOf(entry: number): number {
    const { texts } = this.#kernel;
    return (
      texts.lengthOf(this.#field(entry, ENTRY_NAME)) +
      texts.lengthOf(this.#field(entry, ENTRY_LABELS))
    );
  }

  #releaseTexts(entry: number): void {
    const { texts } = this.#kernel;
    texts.release(this.#field(entry, ENTRY_NAME));
    texts.release(this.#field(entry, ENTRY_LABELS));
  }

  #field(entry: number, field: number): number {
    return this.#kernel.u32[(this.#entryOf(entry) + field) >>> 2] ?? 0;
  }

  /** Returns a negative number if the line at an index is before `key`, a positive number if after, else 0. */
  #compareAt(index: number, { nodeId, seriesIndex }: LineKey): number {
    const entry = this.#entry(index);
    const at = this.#entryOf(entry);
    return (
      (this.#kernel.f64[at >>> 3] ?? 0) - nodeId ||
      this.#field(entry, ENTRY_SERIES_INDEX) - seriesIndex
    );
  }

  /** The id by which cells refer to a line: its block number and entry number. */
  #lineId(entry: number): number {
    return this.#blockNumber * (1 << ENTRY_BITS) + entry;
  }
}

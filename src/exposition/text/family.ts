// One metric family: its metadata, and its lines in blocks, sorted by key.
import type { FamilyMetadata } from '../../model.js';
import type { Budget } from '../../budget.js';
import { OPCODE } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { MAX_LINES } from '../wasm/layout.js';
import { StoredText } from '../wasm/memory.js';
import type { TextHash } from '../wasm/memory.js';
import { Block } from './block.js';
import { labelsOf } from './line.js';
import type { Line, LineKey } from './line.js';

/** A block with this many bytes of names and labels is full. Writing it takes 4 to 6 ms if no text repeats. */
const FULL_BYTES = 262_144;

/** Moving this many lines to another block takes as long as adding one. */
const MOVED_A_STEP = 2;

/** OpenMetrics forbids a histogram with a negative bound to have a sum, which all histograms have here. */
const NEGATIVE_BOUND = /le="-[^"]*"\} $/;

/**
 * The block of a line, and its index in the block. For a missing line, `lineIndex` is `-1 - i` if it belongs at the
 * index `i`.
 */
export interface LinePosition {
  readonly blockIndex: number;
  readonly lineIndex: number;
}

/** The size of all families of a text. */
export interface TextSize {
  lines: number;
  blocks: number;
  /** Bytes of all names and labels. */
  textBytes: number;
}

export class Family {
  readonly metadata: FamilyMetadata;
  /** On a page, families are sorted by this number, then by name. */
  readonly index: number;
  readonly #kernel: Kernel;
  readonly #blocks: Block[] = [];
  /** The names that the lines have, by suffix. */
  readonly #names = new Map<string, StoredText>();
  #lines = 0;
  #mayViolate = false;
  #hasNegativeBound = false;
  readonly #size: TextSize;
  readonly #budget: Budget;

  /**
   * @param size the size of the whole text, which the family updates
   * @param budget pays for lines that move to another block
   */
  constructor(
    kernel: Kernel,
    metadata: FamilyMetadata,
    index: number,
    size: TextSize,
    budget: Budget,
  ) {
    this.#kernel = kernel;
    this.metadata = metadata;
    this.index = index;
    this.#size = size;
    this.#budget = budget;
  }

  get lines(): number {
    return this.#lines;
  }

  /**
   * Adds a line with its `seriesHash`, or replaces the line with the same key.
   * @param position the result of `find`, if no line has been added or removed since
   */
  put(key: LineKey, line: Line, hash: number, position = this.find(key)): void {
    const { blockIndex, lineIndex } = position;
    const block = this.#blocks[blockIndex];
    const name = this.#name(line.suffix);
    this.#checkLine(line);
    if (block === undefined || lineIndex < 0) {
      this.#lines++;
      this.#size.lines++;
      this.#size.textBytes += this.#insert(blockIndex, -1 - lineIndex, key, name, line, hash);
      return;
    }
    this.#size.textBytes -= block.remove(lineIndex);
    this.#size.textBytes += this.#insert(blockIndex, lineIndex, key, name, line, hash);
  }

  remove(key: LineKey): void {
    const { blockIndex, lineIndex } = this.find(key);
    const block = this.#blocks[blockIndex];
    if (block === undefined || lineIndex < 0) return;
    this.#size.textBytes -= block.remove(lineIndex);
    this.#size.lines--;
    this.#lines--;
    if (block.count === 0) this.#removeBlock(blockIndex);
    else if (!this.#merge(blockIndex)) this.#merge(blockIndex - 1);
  }

  /** The hash of the family's name followed by this suffix. */
  nameHash(suffix: string): TextHash {
    return this.#name(suffix).hash;
  }

  /** The `seriesHash` of the line at a position; undefined if there is none. */
  hashAt({ blockIndex, lineIndex }: LinePosition): number | undefined {
    return lineIndex < 0 ? undefined : this.#blocks[blockIndex]?.hash(lineIndex);
  }

  /** Bytes of the name and labels of the line at a position; 0 if there is none. */
  lineBytesAt({ blockIndex, lineIndex }: LinePosition): number {
    return lineIndex < 0 ? 0 : (this.#blocks[blockIndex]?.lineBytes(lineIndex) ?? 0);
  }

  /** The blocks, in the order of their lines. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  /** Whether the family violates OpenMetrics whatever the values are. */
  get hasNegativeBound(): boolean {
    return this.#hasNegativeBound;
  }

  /** Whether a line's value may be negative or NaN, and the type allows neither in OpenMetrics. */
  get mayViolate(): boolean {
    return this.#mayViolate;
  }

  /**
   * Whether a value in a block violates OpenMetrics: a negative one or NaN in counters, sums and counts, or a negative
   * quantile.
   */
  violatesOpenMetrics(block: Block): boolean {
    const { name, type } = this.metadata;
    const nameBytes = type === 'summary' ? name.length : 0;
    return this.#kernel.run.hasNegativeOrNaN(block.address, nameBytes) !== 0;
  }

  /** Frees everything, one block per step. */
  *closing(): Generator<void, void> {
    for (const block of this.#blocks) {
      block.close();
      yield;
    }
    this.#blocks.length = 0;
    for (const name of this.#names.values()) name.close();
    this.#names.clear();
    this.#lines = 0;
  }

  /** The position of the line with that key. */
  find(key: LineKey): LinePosition {
    const blockIndex = this.#blockFor(key);
    return { blockIndex, lineIndex: this.#blocks[blockIndex]?.find(key) ?? -1 };
  }

  /**
   * The index of the block in which a key belongs: the first block whose last line is not before the key, or the last
   * block if there is no such block.
   */
  #blockFor(key: LineKey): number {
    let low = 0;
    let high = this.#blocks.length;
    // Lines usually arrive in the order of their keys.
    if (high > 1 && (this.#blocks[high - 2]?.compare(key) ?? 0) < 0) low = high - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#blocks[middle]?.compare(key) ?? 0) < 0) low = middle + 1;
      else high = middle;
    }
    return low === this.#blocks.length && low > 0 ? low - 1 : low;
  }

  #checkLine(line: Line): void {
    const { type } = this.metadata;
    if (type !== 'counter' && type !== 'histogram' && type !== 'summary') return;
    const kind = line.opcode & 0xff;
    this.#mayViolate ||= kind !== OPCODE.u64 && kind !== OPCODE.bool;
    this.#hasNegativeBound ||= line.suffix === '_bucket' && NEGATIVE_BOUND.test(labelsOf(line));
  }

  #newBlock(at: number, capacity?: number): Block {
    const block = new Block(this.#kernel, this.metadata, capacity);
    this.#blocks.splice(at, 0, block);
    this.#size.blocks++;
    return block;
  }

  /**
   * Inserts a line. A full block is split in half. If the line comes last, a new block follows the full block instead,
   * so that lines that arrive in order fill their blocks.
   */
  #insert(
    at: number,
    index: number,
    key: LineKey,
    name: StoredText,
    line: Line,
    hash: number,
  ): number {
    const block = this.#blocks[at] ?? this.#newBlock(at);
    if (!isFull(block)) return block.insert(index, key, name, line, hash);
    const { count } = block;
    // Give the new block the same capacity: since one block was filled, the next one probably will be.
    const next = this.#newBlock(at + 1, block.capacity);
    const middle = index === count ? count : count >> 1;
    if (middle < count) this.#moveTail(block, middle, next);
    return index < middle
      ? block.insert(index, key, name, line, hash)
      : next.insert(index - middle, key, name, line, hash);
  }

  /** Moves the lines of a block, from an index on, to the end of another block. */
  #moveTail(from: Block, index: number, to: Block): void {
    this.#budget.spend((from.count - index) / MOVED_A_STEP);
    from.moveTail(index, to);
  }

  #name(suffix: string): StoredText {
    let name = this.#names.get(suffix);
    if (name === undefined) {
      name = new StoredText(this.#kernel.texts, this.metadata.name + suffix);
      this.#names.set(suffix, name);
    }
    return name;
  }

  /** Merges a block with the next one if the result has room for many more lines. */
  #merge(at: number): boolean {
    const [block, next] = [this.#blocks[at], this.#blocks[at + 1]];
    if (block === undefined || next === undefined || !canMerge(block, next)) return false;
    this.#moveTail(next, 0, block);
    this.#removeBlock(at + 1);
    return true;
  }

  #removeBlock(at: number): void {
    this.#blocks.splice(at, 1)[0]?.close();
    this.#size.blocks--;
  }
}

const isFull = ({ count, textBytes }: Block): boolean =>
  count === MAX_LINES || (textBytes >= FULL_BYTES && count > 1);

const canMerge = (a: Block, b: Block): boolean =>
  a.count + b.count < MAX_LINES / 2 && a.textBytes + b.textBytes < FULL_BYTES / 2;

/** Returns the node ids of the lines of a family, for growing line numbers. */
export function nodeIdsOf({ blocks }: Family): (line: number) => number {
  let [index, first] = [0, 0];
  return (line) => {
    let block = blocks[index];
    while (block !== undefined && line >= first + block.count) {
      first += block.count;
      block = blocks[++index];
    }
    return block?.nodeId(line - first) ?? 0;
  };
}

// One metric family: its facts, and its lines in order, in blocks.
import type { FamilyFacts } from '../../model.js';
import { Block } from './block.js';
import type { Deflater } from '../kernel/deflater.js';
import type { Kernel } from '../kernel/kernel.js';
import { MAX_LINES } from '../kernel/line-table.js';
import type { Line, LineKey } from '../kernel/line-table.js';
import type { Scratch } from '../kernel/scratch.js';
import { SharedText } from '../kernel/shared-text.js';
import type { DeflatedPiece } from './deflated-lines.js';
import type { TextPiece } from './text-piece.js';

export class Family {
  readonly facts: FamilyFacts;
  readonly #kernel: Kernel;
  readonly #blocks: Block[] = [];
  /** The names of its lines, by suffix. */
  readonly #names = new Map<string, SharedText>();
  #lines = 0;
  #textBytes = 0;

  constructor(kernel: Kernel, facts: FamilyFacts) {
    this.#kernel = kernel;
    this.facts = facts;
  }

  get lines(): number {
    return this.#lines;
  }

  /** Bytes of all names and labels. */
  get textBytes(): number {
    return this.#textBytes;
  }

  get blocks(): number {
    return this.#blocks.length;
  }

  /** Adds a line with its `seriesHash`; one with the same key is replaced. */
  put(key: LineKey, line: Line, hash: number): void {
    const at = this.#blockFor(key);
    const block = this.#blocks[at];
    const index = block?.lines.find(key) ?? -1;
    const name = this.#name(line.suffix);
    if (block === undefined || index < 0) {
      this.#lines++;
      this.#textBytes += this.#insert(at, -1 - index, key, name, line, hash);
      return;
    }
    this.#textBytes -= block.remove(index);
    this.#textBytes += block.insert(index, key, name, line, hash);
  }

  remove(key: LineKey): void {
    const at = this.#blockFor(key);
    const block = this.#blocks[at];
    const index = block?.lines.find(key) ?? -1;
    if (block === undefined || index < 0) return;
    this.#textBytes -= block.remove(index);
    this.#lines--;
    const next = this.#blocks[at + 1];
    if (block.count === 0) this.#drop(at);
    else if (next !== undefined && block.count + next.count < MAX_LINES / 2) {
      next.moveTail(0, block);
      this.#drop(at + 1);
    }
  }

  /** The `seriesHash` of the line with that key. */
  hash(key: LineKey): number | undefined {
    const lines = this.#blocks[this.#blockFor(key)]?.lines;
    const index = lines?.find(key) ?? -1;
    return index < 0 ? undefined : lines?.hash(index);
  }

  /** The text of every block, one a step; call it when values or lines may have changed. */
  *rendering(room: Scratch): Generator<void, TextPiece[]> {
    const pieces: TextPiece[] = [];
    for (const block of this.#blocks) {
      pieces.push(block.render(room));
      yield;
    }
    return pieces;
  }

  /** Frees the text until the next `render`. */
  dropText(): void {
    for (const block of this.#blocks) block.dropText();
  }

  /** The same for a deflate stream. */
  *deflating(deflater: Deflater): Generator<void, DeflatedPiece[]> {
    const pieces: DeflatedPiece[] = [];
    for (const block of this.#blocks) {
      pieces.push(block.deflate(deflater));
      yield;
    }
    return pieces;
  }

  /**
   * Adds the symbols that the block of each `every`-th line would take in a stream to `counts`.
   * @param skipped lines since the last of these; returns how many there are now
   */
  countSymbols(deflater: Deflater, counts: number[], every: number, skipped: number): number {
    let left = skipped;
    for (const block of this.#blocks) {
      left += block.count;
      if (left >= every) block.countSymbols(deflater, counts);
      left %= every;
    }
    return left;
  }

  /** Frees everything, a block a step. */
  *closing(): Generator<void, void> {
    for (const block of this.#blocks) {
      block.close();
      yield;
    }
    this.#blocks.length = 0;
    for (const name of this.#names.values()) name.close();
    this.#names.clear();
    this.#lines = this.#textBytes = 0;
  }

  /** The block that holds `key` or would: the first whose last line is not before it. */
  #blockFor(key: LineKey): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#blocks[middle]?.lines.compare(key) ?? 0) < 0) low = middle + 1;
      else high = middle;
    }
    return low === this.#blocks.length && low > 0 ? low - 1 : low;
  }

  #newBlock(at: number): Block {
    const block = new Block(this.#kernel);
    this.#blocks.splice(at, 0, block);
    return block;
  }

  /**
   * Inserts a line; a full block is split in half, or a new one begins if lines arrive in order, so
   * that blocks fill up.
   */
  #insert(at: number, index: number, ...line: [LineKey, SharedText, Line, number]): number {
    const block = this.#blocks[at] ?? this.#newBlock(at);
    if (block.count < MAX_LINES) return block.insert(index, ...line);
    const next = this.#newBlock(at + 1);
    const middle = index === MAX_LINES ? MAX_LINES : MAX_LINES / 2;
    if (middle < MAX_LINES) block.moveTail(middle, next);
    return index < middle ? block.insert(index, ...line) : next.insert(index - middle, ...line);
  }

  #name(suffix: string): SharedText {
    let name = this.#names.get(suffix);
    if (name === undefined) {
      name = new SharedText(this.#kernel.texts, this.facts.name + suffix);
      this.#names.set(suffix, name);
    }
    return name;
  }

  #drop(at: number): void {
    this.#blocks.splice(at, 1)[0]?.close();
  }
}

// One metric family: its facts, and its lines in order, in blocks.
import type { FamilyFacts } from '../../model.js';
import { Block, MAX_LINES } from './block.js';
import type { LineKey } from './block.js';
import type { Deflater } from '../kernel/deflater.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Line } from '../kernel/line-table.js';
import type { DeflatedPiece } from './deflated-lines.js';
import type { TextPiece } from './text-piece.js';

export class Family {
  readonly facts: FamilyFacts;
  readonly #kernel: Kernel;
  readonly #blocks: Block[] = [];
  #lines = 0;

  constructor(kernel: Kernel, facts: FamilyFacts) {
    this.#kernel = kernel;
    this.facts = facts;
  }

  get lines(): number {
    return this.#lines;
  }

  get blocks(): number {
    return this.#blocks.length;
  }

  /** Adds a line; one with the same key is replaced. */
  put(key: LineKey, line: Line): void {
    const at = this.#blockFor(key);
    const block = this.#blocks[at] ?? this.#newBlock(at);
    const index = block.find(key);
    if (index >= 0) block.remove(index);
    else this.#lines++;
    block.insert(index >= 0 ? index : -1 - index, key, line);
    if (block.count > MAX_LINES) this.#split(at, block, -1 - index === MAX_LINES);
  }

  remove(key: LineKey): void {
    const at = this.#blockFor(key);
    const block = this.#blocks[at];
    const index = block?.find(key) ?? -1;
    if (block === undefined || index < 0) return;
    block.remove(index);
    this.#lines--;
    const next = this.#blocks[at + 1];
    if (block.count === 0) this.#drop(at);
    else if (next !== undefined && block.count + next.count < MAX_LINES / 2) {
      next.moveTail(0, block);
      this.#drop(at + 1);
    }
  }

  line(key: LineKey): Line | undefined {
    const block = this.#blocks[this.#blockFor(key)];
    const index = block?.find(key) ?? -1;
    return index < 0 ? undefined : block?.line(index);
  }

  /** The text of every block; call it when values or lines may have changed. */
  render(): TextPiece[] {
    return this.#blocks.map((block) => block.render());
  }

  /** Frees the text until the next `render`. */
  dropText(): void {
    for (const block of this.#blocks) block.dropText();
  }

  /** The same for a deflate stream. */
  deflate(deflater: Deflater): DeflatedPiece[] {
    return this.#blocks.map((block) => block.deflate(deflater));
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

  close(): void {
    for (const block of this.#blocks) block.close();
    this.#blocks.length = 0;
    this.#lines = 0;
  }

  /** The block that holds `key` or would: the first whose last line is not before it. */
  #blockFor(key: LineKey): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#blocks[middle]?.compare(key) ?? 0) < 0) low = middle + 1;
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
   * Splits a block in half, or starts a new one if lines arrive in order, so that blocks fill up.
   */
  #split(at: number, block: Block, isAppend: boolean): void {
    block.moveTail(isAppend ? MAX_LINES : MAX_LINES / 2, this.#newBlock(at + 1));
  }

  #drop(at: number): void {
    this.#blocks.splice(at, 1)[0]?.close();
  }
}

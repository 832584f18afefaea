// A block: consecutive series lines of one family, which are stored, sorted and compressed together.
import { DeflatedLines } from '../compress/deflated-lines.js';
import type { DeflateBuffer } from '../compress/deflated-lines.js';
import type { DeflateContext } from '../compress/deflate-context.js';
import type { Kernel } from '../wasm/kernel.js';
import { LineTable } from '../wasm/line-table.js';
import type { Line, LineKey } from '../wasm/line-table.js';
import type { Scratch, StoredText } from '../wasm/memory.js';

/** The output of a render: text, deflate blocks, or both. */
export interface RenderOptions {
  readonly hasText: boolean;
  /** Undefined if the render needs no deflate blocks. */
  readonly context: DeflateContext | undefined;
}

/** A unit of render work: writes the text of a chunk, or writes the lines of a block as a deflate block. */
export interface RenderTask {
  /** The approximate size as text, in bytes. */
  readonly bytes: number;

  /**
   * Writes the current values. If it throws, the next call writes everything again.
   * @param scratch memory for changed values while it writes
   */
  write(options: RenderOptions, scratch: Scratch): void;
}

/** The typical size of a value with its space and line feed. */
const VALUE_BYTES = 10;

/** The method `write` writes only the deflate block. The chunk that contains the block writes the text. */
export class Block implements RenderTask {
  readonly lines: LineTable;
  #isSorted = true;
  readonly #deflated: DeflatedLines;

  /** @param capacity the number of lines to allocate memory for */
  constructor(kernel: Kernel, capacity?: number) {
    this.lines = new LineTable(kernel, capacity);
    this.#deflated = new DeflatedLines(kernel, this.lines);
  }

  get count(): number {
    return this.lines.count;
  }
  /** Bytes of names and labels. */
  get textBytes(): number {
    return this.lines.textBytes;
  }
  get bytes(): number {
    const { count, textBytes } = this.lines;
    return textBytes + count * VALUE_BYTES;
  }

  /** Inserts a line. Returns the bytes of its name and labels. */
  insert(index: number, key: LineKey, name: StoredText, line: Line, hash: number): number {
    this.#invalidate();
    return this.lines.insert(index, key, name, line, hash);
  }

  /** Removes a line. Returns the bytes of its name and labels. */
  remove(index: number): number {
    this.#invalidate();
    return this.lines.remove(index);
  }

  /** Moves the lines from `index` on to the end of `other`. */
  moveTail(index: number, other: Block): void {
    this.lines.moveTail(index, other.lines);
    this.#invalidate();
    other.#invalidate();
  }

  /** Sorts the lines by key. If their order changes, text and deflate block become dirty. */
  sort(): void {
    if (this.#isSorted) return;
    this.lines.sort();
    this.#isSorted = true;
  }

  /** Whether the last deflate block has the current values. */
  isCurrent(context: DeflateContext): boolean {
    return this.#deflated.isCurrent(context);
  }

  write({ context }: RenderOptions): void {
    if (context === undefined)
      throw new RangeError(
        'A block is written only as deflate data, which needs a deflate context',
      );
    this.sort();
    this.#deflated.write(context);
  }

  /** The last deflate block, if any. */
  get deflateBlock(): DeflateBuffer | undefined {
    return this.#deflated.last;
  }

  /** Counts the symbols of the deflate block, and adds them to `counts`. */
  countSymbols(context: DeflateContext, counts: number[]): void {
    this.sort();
    this.#deflated.countSymbols(context, counts);
  }

  close(): void {
    this.#deflated.close();
    this.lines.close();
  }

  /** Call it after lines were added or removed. */
  #invalidate(): void {
    this.#isSorted = false;
    this.#deflated.invalidate();
  }
}

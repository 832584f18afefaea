// A run of series lines that is rendered, kept and sent as one piece.
import type { Deflater } from '../kernel/deflater.js';
import type { Kernel } from '../kernel/kernel.js';
import { LineTable } from '../kernel/line-table.js';
import type { Line } from '../kernel/line-table.js';
import { DeflatedLines } from './deflated-lines.js';
import type { DeflatedPiece } from './deflated-lines.js';
import { TextPiece } from './text-piece.js';

/** About 128 KB of text: smaller pieces cost more to send, larger ones more to render anew. */
export const MAX_LINES = 1024;

/** The position of a line in its family: by owner (an object's or variable's id), then by `sub`. */
export interface LineKey {
  readonly owner: number;
  readonly sub: number;
}

export class Block {
  readonly #kernel: Kernel;
  readonly #table: LineTable;
  readonly #owners: number[] = [];
  readonly #subs: number[] = [];
  #text: TextPiece | undefined;
  #isReshaped = true;
  readonly #deflated: DeflatedLines;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#table = new LineTable(kernel, 4);
    this.#deflated = new DeflatedLines(kernel, this.#table);
  }

  get count(): number {
    return this.#table.count;
  }

  /** Negative when all lines come before `key`, positive when all come after, else 0. */
  compare({ owner, sub }: LineKey): number {
    const last = this.count - 1;
    if (last < 0) return 0;
    if (order(this.#owners[last], this.#subs[last], owner, sub) < 0) return -1;
    return order(this.#owners[0], this.#subs[0], owner, sub) > 0 ? 1 : 0;
  }

  /** The index of the line with `key`, or `-1 - index` of where it belongs. */
  find({ owner, sub }: LineKey): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (order(this.#owners[middle], this.#subs[middle], owner, sub) < 0) low = middle + 1;
      else high = middle;
    }
    const isFound = this.#owners[low] === owner && this.#subs[low] === sub;
    return isFound ? low : -1 - low;
  }

  insert(index: number, key: LineKey, line: Line): void {
    this.#table.insert(index, line);
    this.#owners.splice(index, 0, key.owner);
    this.#subs.splice(index, 0, key.sub);
    this.#reshaped();
  }

  remove(index: number): void {
    this.#table.remove(index);
    this.#owners.splice(index, 1);
    this.#subs.splice(index, 1);
    this.#reshaped();
  }

  line(index: number): Line {
    return this.#table.line(index);
  }

  /** Moves the lines from `index` on to the end of `other`. */
  moveTail(index: number, other: Block): void {
    while (this.count > index) {
      const key = { owner: this.#owners[index] ?? 0, sub: this.#subs[index] ?? 0 };
      other.insert(other.count, key, this.#table.line(index));
      this.#table.remove(index);
      this.#owners.splice(index, 1);
      this.#subs.splice(index, 1);
    }
    this.#reshaped();
  }

  /** The text of the lines with their current values; the same piece while nothing changed. */
  render(): TextPiece {
    const { run } = this.#kernel;
    const { address, count } = this.#table;
    const last = this.#text;
    if (last !== undefined && !this.#isReshaped && run.isDirty(address, count) === 0) return last;
    const next = new TextPiece(this.#kernel, this.#table.roomNeeded);
    next.length =
      last === undefined || this.#isReshaped
        ? run.renderAll(address, count, next.address)
        : run.renderChanged(address, count, last.address, next.address);
    last?.release();
    this.#text = next;
    this.#isReshaped = false;
    return next;
  }

  /** Frees the text until the next `render`. */
  dropText(): void {
    this.#text?.release();
    this.#text = undefined;
  }

  /** The same for a deflate stream, made without the text. */
  deflate(deflater: Deflater): DeflatedPiece {
    return this.#deflated.render(deflater);
  }

  /** Adds the symbols that the lines would take in a stream to `counts`. */
  countSymbols(deflater: Deflater, counts: number[]): void {
    this.#deflated.countSymbols(deflater, counts);
  }

  close(): void {
    this.#deflated.close();
    this.#table.close();
    this.dropText();
  }

  /** Lines came or went. */
  #reshaped(): void {
    this.#isReshaped = true;
    this.#deflated.reshaped();
  }
}

function order(
  ownerA: number | undefined,
  subA: number | undefined,
  ownerB: number,
  subB: number,
): number {
  return (ownerA ?? 0) - ownerB || (subA ?? 0) - subB;
}

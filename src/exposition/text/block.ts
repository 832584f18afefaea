// A run of series lines that is rendered, kept and sent as one piece.
import type { Deflater } from '../kernel/deflater.js';
import type { Kernel } from '../kernel/kernel.js';
import { LineTable, STALE } from '../kernel/line-table.js';
import type { Line, LineKey } from '../kernel/line-table.js';
import type { Scratch } from '../kernel/scratch.js';
import type { SharedText } from '../kernel/shared-text.js';
import { DeflatedLines } from './deflated-lines.js';
import type { DeflatedPiece } from './deflated-lines.js';
import { TextPiece } from './text-piece.js';

/** From this part of the lines on, writing all of them is faster than moving text between changes. */
const MANY = 0.06;

/** What `rewrite` of the kernel needs for each value, and once more for what it overwrites. */
const REWRITE_ROOM = 32;

/** How lines are wanted: as text, as parts of a stream, or both. */
export interface Wanted {
  /** For a call; undefined if no text is wanted. */
  readonly room: Scratch | undefined;
  /** Undefined if no parts are wanted. */
  readonly deflater: Deflater | undefined;
}

export class Block {
  readonly #kernel: Kernel;
  readonly lines: LineTable;
  #text: TextPiece | undefined;
  #isReshaped = true;
  #isSorted = true;
  readonly #deflated: DeflatedLines;

  /** @param capacity lines that it has memory for from the beginning */
  constructor(kernel: Kernel, capacity?: number) {
    this.#kernel = kernel;
    this.lines = new LineTable(kernel, capacity);
    this.#deflated = new DeflatedLines(kernel, this.lines);
  }

  get count(): number {
    return this.lines.count;
  }

  /** Returns the bytes of name and labels. */
  insert(index: number, key: LineKey, name: SharedText, line: Line, hash: number): number {
    this.#reshaped();
    return this.lines.insert(index, key, name, line, hash);
  }

  /** Returns the bytes of name and labels. */
  remove(index: number): number {
    this.#reshaped();
    return this.lines.remove(index);
  }

  /** Moves the lines from `index` on to the end of `other`. */
  moveTail(index: number, other: Block): void {
    this.lines.moveTail(index, other.lines);
    this.#reshaped();
    other.#reshaped();
  }

  /** Whether what was made last has the current values. */
  isFresh({ room, deflater }: Wanted): boolean {
    return (
      (room === undefined || this.#hasFreshText) &&
      (deflater === undefined || this.#deflated.isFresh(deflater))
    );
  }

  /** Gives the lines their current values in the forms that are wanted; text that is not wanted is freed. */
  render({ room, deflater }: Wanted): void {
    this.#sort();
    if (room === undefined) this.#dropText();
    else this.#write(room);
    if (deflater !== undefined) this.#deflated.render(deflater);
  }

  /** What was rendered last, if it was wanted. */
  get text(): TextPiece | undefined {
    return this.#text;
  }
  get deflated(): DeflatedPiece | undefined {
    return this.#deflated.last;
  }

  /**
   * Writes the text of the lines; the same piece while nothing changed. Changed values are written into
   * the last text, if nobody holds it.
   */
  #write(room: Scratch): void {
    const { run } = this.#kernel;
    const { address, count, roomNeeded } = this.lines;
    const last = this.#isReshaped ? undefined : this.#text;
    if (last !== undefined && this.#hasFreshText) return;
    const changes = last === undefined ? count : this.lines.changes;
    const hasMany = changes > count * MANY;
    if (last?.isHeld === false) {
      const bytes = last.length;
      const next = last.succeed();
      next.length = hasMany
        ? run.renderAll(address, next.address)
        : run.rewrite(address, next.address, bytes, room.of((changes + 1) * REWRITE_ROOM));
      this.#text = next;
      return;
    }
    const next = new TextPiece(this.#kernel, roomNeeded);
    next.length =
      last === undefined || hasMany
        ? run.renderAll(address, next.address)
        : run.renderChanged(address, last.address, last.length, next.address);
    this.#text?.release();
    this.#text = next;
    this.#isReshaped = false;
  }

  /** Frees the text until the next `render`. */
  #dropText(): void {
    this.#text?.release();
    this.#text = undefined;
  }

  /** Adds the symbols that the lines would take in a stream to `counts`. */
  countSymbols(deflater: Deflater, counts: number[]): void {
    this.#sort();
    this.#deflated.countSymbols(deflater, counts);
  }

  close(): void {
    this.#deflated.close();
    this.lines.close();
    this.#dropText();
  }

  get #hasFreshText(): boolean {
    return !this.#isReshaped && this.#text !== undefined && !this.lines.isStale(STALE.text);
  }

  /** Sorts the lines if some came or went; neither form of them is used again then. */
  #sort(): void {
    if (!this.#isSorted) this.lines.sort();
    this.#isSorted = true;
  }

  /** Lines came or went. */
  #reshaped(): void {
    this.#isReshaped = true;
    this.#isSorted = false;
    this.#deflated.reshaped();
  }
}

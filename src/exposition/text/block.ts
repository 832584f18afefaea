// A run of series lines that is rendered, kept and sent as one piece.
import type { BlockJob } from '../kernel/block-job.js';
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
const MANY = 0.25;

/** Copying what is between changes, a change of few, and a line where many changed. */
const US_A_BYTE = 0.000_08;
const US_A_CHANGE = 0.2;
const US_A_LINE = 0.06;

/** What `rewrite` of the kernel needs for each value, and once more for what it overwrites. */
const REWRITE_ROOM = 32;

/** How lines are wanted: as text, as parts of a stream, or both. */
export interface Wanted {
  readonly hasText: boolean;
  /** Undefined if no parts are wanted. */
  readonly deflater: Deflater | undefined;
}

/** About how many microseconds it takes to write lines in one form, of which so many changed. */
const formUs = (changes: number, lines: number, textBytes: number): number =>
  textBytes * US_A_BYTE + Math.min(changes * US_A_CHANGE, lines * US_A_LINE);

/** About how many microseconds it takes at most to write so many lines, as they are wanted. */
export const mostEffortUs = (
  { lines, textBytes }: { readonly lines: number; readonly textBytes: number },
  { hasText, deflater }: Wanted,
): number => formUs(lines, lines, textBytes) * (Number(hasText) + Number(deflater !== undefined));

/** Room for what does not outlive a job: for values, and for parts of a stream. */
export interface JobRoom {
  readonly values: Scratch;
  readonly stream: Scratch;
}

export class Block {
  readonly #kernel: Kernel;
  readonly lines: LineTable;
  #text: TextPiece | undefined;
  /** What the present job writes to. */
  #next: TextPiece | undefined;
  #header: (() => string) | undefined;
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

  /** From now on a header lies right before the text. It is made when there is text. */
  headWith(header: () => string): void {
    this.#header = header;
    this.#isReshaped = true;
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

  /** Whether what was made last is all that is wanted, and has the current values. */
  isFresh({ hasText, deflater }: Wanted): boolean {
    return (
      (hasText ? this.#hasFreshText : this.#text === undefined) &&
      (deflater === undefined || this.#deflated.isFresh(deflater))
    );
  }

  /** About how many microseconds it takes to write what changed in the lines, as they are wanted. */
  effortUs({ hasText, deflater }: Wanted): number {
    const { count, textBytes } = this.lines;
    const textUs = hasText ? formUs(this.#changes(), count, textBytes) : 0;
    if (deflater === undefined) return textUs;
    return textUs + formUs(this.#deflated.changes(deflater), count, textBytes);
  }

  /**
   * Gives the lines of a block that is not fresh their current values in the forms that are wanted, as far as
   * that is left to the kernel: until the job is done and `finish` called, nothing else may be done with the
   * block. Text that is not wanted is freed.
   */
  prepare({ hasText, deflater }: Wanted, room: JobRoom, job: BlockJob): void {
    if (!this.#isSorted) this.#sort();
    job.begin(this.lines.address);
    // The block is not fresh, so a form that is wanted alone is not, unless text had to go.
    const hadText = this.#text !== undefined;
    const isTextStale = hasText && (deflater === undefined || !this.#hasFreshText);
    if (isTextStale) this.#prepareText(room.values, job);
    if (!hasText && hadText) this.#dropText();
    if (deflater === undefined) return;
    const isStreamStale = !(hasText || hadText) || !this.#deflated.isFresh(deflater);
    if (isStreamStale) this.#deflated.prepare(deflater, room.stream, job);
  }

  /** Takes what the job has made. */
  finish(job: BlockJob): void {
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) {
      next.length = job.length;
      if (next !== this.#text) this.#text?.release();
      this.#text = next;
      this.#isReshaped = false;
    }
    this.#deflated.finish(job);
  }

  /** The job was not done, or not all of it: everything is written anew by the next. */
  abandon(): void {
    if (this.#next !== this.#text) this.#next?.release();
    this.#next = undefined;
    this.#isReshaped = true;
    this.#deflated.reshaped();
  }

  /** What was rendered last, if it was wanted. */
  get text(): TextPiece | undefined {
    return this.#text;
  }
  get deflated(): DeflatedPiece | undefined {
    return this.#deflated.last;
  }

  /**
   * Has the text of the lines written. Changed values are written into the last text, if nobody holds it.
   */
  #prepareText(room: Scratch, job: BlockJob): void {
    const last = this.#isReshaped ? undefined : this.#text;
    const { count } = this.lines;
    const changes = last === undefined ? count : this.lines.changes(STALE.text);
    const isInPlace = last?.isHeld === false;
    const next = isInPlace
      ? last.succeed()
      : TextPiece.of(this.#kernel, this.lines.roomNeeded, this.#header?.());
    if (isInPlace) this.#text = next;
    this.#next = next;
    if (last === undefined || changes > count * MANY) job.renderAll(next.address);
    else if (isInPlace)
      job.rewrite(next.address, last.length, room.of((changes + 1) * REWRITE_ROOM));
    else job.renderChanged(last.address, last.length, next.address);
  }

  /** How many lines of the text have another value, about. */
  #changes(): number {
    const isThere = !this.#isReshaped && this.#text !== undefined;
    return isThere ? this.lines.changes(STALE.text) : this.lines.count;
  }

  /** Frees the text, until it is wanted again. */
  #dropText(): void {
    this.#text?.release();
    this.#text = undefined;
  }

  /** Adds the symbols that the lines would take in a stream to `counts`. */
  countSymbols(deflater: Deflater, counts: number[]): void {
    if (!this.#isSorted) this.#sort();
    this.#deflated.countSymbols(deflater, counts);
  }

  close(): void {
    // A job may have failed.
    this.abandon();
    this.#deflated.close();
    this.lines.close();
    this.#dropText();
  }

  get #hasFreshText(): boolean {
    return !this.#isReshaped && this.#text !== undefined && !this.lines.isStale(STALE.text);
  }

  /** Some lines came or went; neither form of them is used again then. */
  #sort(): void {
    this.lines.sort();
    this.#isSorted = true;
  }

  /** Lines came or went. */
  #reshaped(): void {
    this.#isReshaped = true;
    this.#isSorted = false;
    this.#deflated.reshaped();
  }
}

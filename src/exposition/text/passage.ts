// The text of some blocks that follow each other, in one piece: each below the header of its family, if it is the
// family's first. Pages send it as it lies.
import type { Header } from '../../model.js';
import { OVERRUN } from '../kernel/kernel.js';
import type { Kernel } from '../kernel/kernel.js';
import { VALUE_ROOM } from '../kernel/line-table.js';
import type { Block } from './block.js';
import { TextPiece } from './text-piece.js';
import { bytesAsText } from './writing-task.js';
import type { Extent, Wanted, WritingRoom, WritingTask } from './writing-task.js';

/** From this part of the lines on, writing all of them is faster than moving text between changes. */
const MANY = 0.25;

/** A part takes about as long as so much text of it. */
const BYTES_A_PART = 128;

/** What `rewrite` of the kernel needs for each value, and once more for what it overwrites. */
const REWRITE_ROOM = 32;

/** As assembly/lines.ts draws them: the number of parts, and each part, in 4-byte units. */
const PARTS_AT = 1;
const PART = { block: 0, header: 1, headerBytes: 2, start: 3, isOther: 4 } as const;
const PART_WORDS = 5;
/** Why it is stale, as `staleness` says: lines came or went. */
const RESHAPED = 2;

/** A block, and the header before its lines, if it has one. */
export interface PassagePart {
  readonly block: Block;
  readonly header: Header | undefined;
}

/** The families of a passage, in their order. */
export interface Places {
  /** Where each starts in the text, and at last, where the text ends. */
  readonly bounds: readonly number[];
  /** Whether its bytes are others than in the text before, or in another place of the memory. */
  readonly others: readonly boolean[];
}

export class Passage implements WritingTask {
  readonly parts: readonly PassagePart[];
  /** Bytes of the headers in its text. */
  readonly headerBytes: number;
  readonly #kernel: Kernel;
  /** Where the kernel finds its parts, and behind them the headers. */
  readonly #table: number;
  readonly #tableBytes: number;
  #text: TextPiece | undefined;
  /** Whether the text was not written to its end. */
  #isBroken = false;
  /** The lines as they were when it was written as a whole. */
  #extent: Extent = { lines: 0, textBytes: 0 };

  constructor(kernel: Kernel, parts: readonly PassagePart[]) {
    this.#kernel = kernel;
    this.parts = parts;
    let headerBytes = 0;
    for (const { header } of parts) headerBytes += header?.bytes ?? 0;
    this.headerBytes = headerBytes;
    const partsBytes = (PARTS_AT + parts.length * PART_WORDS) * 4;
    this.#tableBytes = partsBytes + headerBytes + OVERRUN;
    this.#table = kernel.arena.take(this.#tableBytes);
    this.#setUp(this.#table + partsBytes);
  }

  /** To go from one part to the next takes as long as to write some text. */
  get bytes(): number {
    return bytesAsText(this.#extent) + this.headerBytes + this.parts.length * BYTES_A_PART;
  }

  /** Whether the text that was written last is there and has the current values. */
  get isFresh(): boolean {
    const isThere = this.#text !== undefined && !this.#isBroken;
    return isThere && this.#kernel.run.staleness(this.#table) === 0;
  }

  /** Changed values are written into the last text, if nobody holds it. */
  write(_: Wanted, { values }: WritingRoom): void {
    const { run } = this.#kernel;
    const last = this.#canBeChanged ? this.#text : undefined;
    if (last === undefined) this.#settle();
    const changes = last === undefined ? 0 : run.passageChanges(this.#table);
    const isAnew = last === undefined || changes > this.#extent.lines * MANY;
    const isInPlace = last?.isHeld === false;
    // Allocate first. Allocation can fail, and no state may change before it succeeds.
    const room = isInPlace && !isAnew ? values.of((changes + 1) * REWRITE_ROOM) : 0;
    const next = isInPlace ? last.succeed() : TextPiece.of(this.#kernel, this.#roomNeeded);
    const former = this.#text;
    this.#text = next;
    this.#isBroken = true;
    try {
      if (isAnew) next.length = run.renderAll(this.#table, next.address);
      else if (isInPlace) next.length = run.rewrite(this.#table, next.address, last.length, room);
      else next.length = run.renderChanged(this.#table, last.address, last.length, next.address);
      this.#isBroken = false;
    } finally {
      if (!isInPlace) former?.release();
    }
  }

  /** What was written last, if it was wanted. */
  get text(): TextPiece | undefined {
    return this.#text;
  }

  /** Where its families lie in the text, each from its header on, and whether they did so before. */
  get places(): Places {
    const { u32 } = this.#kernel;
    const bounds: number[] = [];
    const others: boolean[] = [];
    let at = (this.#table >>> 2) + PARTS_AT;
    for (const { header } of this.parts) {
      const isOther = u32[at + PART.isOther] !== 0;
      if (header === undefined) others[others.length - 1] ||= isOther;
      else {
        bounds.push((u32[at + PART.start] ?? 0) - header.bytes);
        others.push(isOther);
      }
      at += PART_WORDS;
    }
    bounds.push(this.#text?.length ?? 0);
    return { bounds, others };
  }

  /** Frees the text, until it is wanted again. */
  dropText(): void {
    this.#text?.release();
    this.#text = undefined;
  }

  close(): void {
    this.dropText();
    this.#kernel.arena.give(this.#table, this.#tableBytes);
  }

  /** Whether there is a text that differs in values alone. */
  get #canBeChanged(): boolean {
    if (this.#text === undefined || this.#isBroken) return false;
    return (this.#kernel.run.staleness(this.#table) & RESHAPED) === 0;
  }

  /** The most bytes that the text needs. */
  get #roomNeeded(): number {
    const { lines, textBytes } = this.#extent;
    return this.headerBytes + textBytes + lines * VALUE_ROOM + OVERRUN;
  }

  /** Sorts and measures the lines, which may have come and gone. */
  #settle(): void {
    let lines = 0;
    let textBytes = 0;
    for (const { block } of this.parts) {
      block.sort();
      lines += block.count;
      textBytes += block.textBytes;
    }
    this.#extent = { lines, textBytes };
  }

  /** @param headersAt where the headers are to be */
  #setUp(headersAt: number): void {
    const { u32 } = this.#kernel;
    u32[this.#table >>> 2] = this.parts.length;
    let at = (this.#table >>> 2) + PARTS_AT;
    let headerAt = headersAt;
    for (const { block, header } of this.parts) {
      const bytes = header?.bytes ?? 0;
      if (header !== undefined) this.#kernel.window(headerAt, bytes).write(header.text);
      u32[at + PART.block] = block.lines.address;
      u32[at + PART.header] = headerAt;
      u32[at + PART.headerBytes] = bytes;
      headerAt += bytes;
      at += PART_WORDS;
    }
  }
}

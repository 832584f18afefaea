// A chunk of a page: consecutive blocks with one text, in which the header of a family lies before its first block.
// Pages send the text as it lies.
import type { FamilyFacts, Header } from '../../model.js';
import type { DeflatedPart } from '../compress/deflate-stream.js';
import { OVERRUN } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { PARTS_OFFSET, PART_BYTES, REWRITE_ROOM } from '../wasm/layout.js';
import { VALUE_ROOM } from '../wasm/line-table.js';
import type { Scratch } from '../wasm/memory.js';
import type { Block, Wanted, WritingTask } from './block.js';
import { TextPiece } from './text-piece.js';

/** If this share of the lines changed, writing all of them is faster than moving the text between changes. */
const MANY = 0.25;

/** To go to the next part takes about as long as to write so many bytes of text. */
const BYTES_A_PART = 128;

/** Offsets in the table that assembly/lines.ts draws, in 4-byte units. */
const PARTS_AT = PARTS_OFFSET / 4;
const PART = { block: 0, header: 1, headerBytes: 2, start: 3 } as const;
const PART_WORDS = PART_BYTES / 4;
/** A flag of `staleness`: lines came or went. */
const RESHAPED = 2;

/** A block, and the header before it if it is the first block of its family. */
export interface ChunkPart {
  readonly block: Block;
  readonly facts: FamilyFacts;
  readonly header: Header | undefined;
}

/** A chunk as it was written, in the forms of one render. */
export interface ChunkText {
  readonly parts: readonly ChunkPart[];
  /** Bytes of the lines. */
  readonly bytes: number;
  /** The lines with the headers. */
  readonly text: TextPiece | undefined;
  /** The offset in the text of each part with its header, then that of the end of the text. */
  readonly bounds: readonly number[];
  /** The stream of each part, if the render made streams. */
  readonly streams: readonly DeflatedPart[] | undefined;
  /** All pieces of memory with its text and streams. */
  readonly pieces: readonly TextPiece[];
}

export class Chunk implements WritingTask {
  readonly parts: readonly ChunkPart[];
  readonly #kernel: Kernel;
  /** Bytes of the headers. */
  readonly #headerBytes: number;
  /** The address of the table of parts and headers, which the first write makes. */
  #table = 0;
  #text: TextPiece | undefined;
  /** Whether the last write failed. */
  #isBroken = false;
  /** Number and approximate bytes of the lines, as of the last write of all of them. */
  #lines = 0;
  #lineBytes = 0;
  /** The result of the last call of `shown`. */
  #last:
    { readonly hasText: boolean; readonly code: unknown; readonly made: ChunkText } | undefined;

  constructor(kernel: Kernel, parts: readonly ChunkPart[]) {
    this.#kernel = kernel;
    this.parts = parts;
    let headerBytes = 0;
    for (const { header } of parts) headerBytes += header?.bytes ?? 0;
    this.#headerBytes = headerBytes;
    this.#measure();
  }

  get bytes(): number {
    return this.#lineBytes + this.#headerBytes + this.parts.length * BYTES_A_PART;
  }

  /** Adds the parts that the render must write to `stale`, and frees the text if the render needs none. */
  collectStale(wanted: Wanted, stale: WritingTask[]): void {
    const { hasText, deflater } = wanted;
    const { length } = stale;
    if (!hasText) this.#dropText();
    else if (!this.#isFresh) stale.push(this);
    if (deflater !== undefined)
      for (const { block } of this.parts) if (!block.isFresh(deflater)) stale.push(block);
    const last = this.#last;
    const isSame = last?.hasText === hasText && last.code === deflater?.code;
    if (!isSame || stale.length > length) this.#last = undefined;
  }

  shown(wanted: Wanted): ChunkText {
    const { hasText, deflater } = wanted;
    this.#last ??= { hasText, code: deflater?.code, made: this.#made(wanted) };
    return this.#last.made;
  }

  /** Writes the text. Changed values go into the last text if that is not held. */
  write(_: Wanted, values: Scratch): void {
    const { run } = this.#kernel;
    const last = this.#canBeChanged ? this.#text : undefined;
    if (this.#table === 0) this.#setUp();
    if (last === undefined) {
      for (const { block } of this.parts) block.sort();
      this.#measure();
    }
    const changes = last === undefined ? 0 : run.chunkChanges(this.#table);
    const isAnew = last === undefined || changes > this.#lines * MANY;
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

  /** Frees the text. The blocks may be closed already. */
  close(): void {
    this.#dropText();
    this.#last = undefined;
    if (this.#table !== 0) this.#kernel.arena.free(this.#table, this.#tableBytes);
    this.#table = 0;
  }

  /** Whether the text has the current values. */
  get #isFresh(): boolean {
    const isThere = this.#text !== undefined && !this.#isBroken;
    return isThere && this.#kernel.run.staleness(this.#table) === 0;
  }

  /** Whether the text has the current lines, and some of their values differ. */
  get #canBeChanged(): boolean {
    if (this.#text === undefined || this.#isBroken) return false;
    return (this.#kernel.run.staleness(this.#table) & RESHAPED) === 0;
  }

  /** The most bytes that the text needs. */
  get #roomNeeded(): number {
    return this.#headerBytes + this.#lineBytes + this.#lines * VALUE_ROOM + OVERRUN;
  }

  #measure(): void {
    this.#lines = 0;
    this.#lineBytes = 0;
    for (const { block } of this.parts) {
      this.#lines += block.count;
      this.#lineBytes += block.bytes;
    }
  }

  get #tableBytes(): number {
    return (PARTS_AT + this.parts.length * PART_WORDS) * 4 + this.#headerBytes + OVERRUN;
  }

  #made({ hasText, deflater }: Wanted): ChunkText {
    const text = hasText ? this.#text : undefined;
    const pieces = text === undefined ? [] : [text];
    let bytes = text === undefined ? 0 : text.length - this.#headerBytes;
    let streams: DeflatedPart[] | undefined;
    if (deflater !== undefined) {
      streams = [];
      let streamBytes = 0;
      for (const { block } of this.parts) {
        if (block.deflated === undefined) continue;
        const { piece, ...sizes } = block.deflated;
        streams.push({ data: piece.view, ...sizes });
        streamBytes += sizes.bytes;
        pieces.push(piece);
      }
      if (!hasText) bytes = streamBytes;
    }
    return { parts: this.parts, bytes, text, bounds: this.#bounds, streams, pieces };
  }

  get #bounds(): readonly number[] {
    if (this.#text === undefined) return [];
    const { u32 } = this.#kernel;
    const bounds: number[] = [];
    let at = (this.#table >>> 2) + PARTS_AT;
    for (const { header } of this.parts) {
      bounds.push((u32[at + PART.start] ?? 0) - (header?.bytes ?? 0));
      at += PART_WORDS;
    }
    bounds.push(this.#text.length);
    return bounds;
  }

  #dropText(): void {
    this.#text?.release();
    this.#text = undefined;
  }

  #setUp(): void {
    this.#table = this.#kernel.arena.allocate(this.#tableBytes);
    const { u32 } = this.#kernel;
    u32[this.#table >>> 2] = this.parts.length;
    let at = (this.#table >>> 2) + PARTS_AT;
    let headerAt = (at + this.parts.length * PART_WORDS) * 4;
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

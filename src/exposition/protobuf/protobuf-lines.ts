// The form `protobuf` of lines: their text as messages, in buffers of the kernel's memory.
import type { FamilyMetadata, Piece } from '../../model.js';
import { BYTES_A_BLOCK } from '../text/block.js';
import type { Block } from '../text/block.js';
import { nodeIdsOf } from '../text/family.js';
import type { Family } from '../text/family.js';
import { RenderBuffer } from '../text/render-buffer.js';
import { OPCODE, PADDING_BYTES } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { IS_COUNT, LINES_CHANGED, MESSAGES_PLACES, PLACE_BYTES } from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';
import { MessageDeflater } from './deflated-messages.js';
import type { DeflatedMessages, PlacedMessages } from './deflated-messages.js';
import { hasStarts, isDistribution, metricWriter } from './metric-writers.js';
import type { StartOfLine } from './metric-writers.js';

/** The start of the lines of a node in a family, in Unix milliseconds; undefined if it is unknown. */
export type StartOf = (family: FamilyMetadata, nodeId: number) => number | undefined;

/** Converting this much text takes about half a millisecond. */
const BYTES_A_STEP = 65_536;
/** Writing changed values takes at most this part of the time to convert their text. */
const VALUES_COST = 1 / 64;

/** Compressing this much takes about four milliseconds. Larger groups are left to zlib. */
const MAX_DEFLATED_BYTES = 2_097_152;

/** Blocks that are converted together. */
interface BlockGroup {
  readonly blocks: readonly Block[];
  /** The number of lines of the family before the first block. */
  readonly firstLine: number;
}

/** The messages of a group. */
interface Converted extends PlacedMessages {
  /** Whether the kernel can write values into the messages. */
  readonly canWrite: boolean;
  /** The same messages, compressed by the kernel, if the last render wrote them. */
  readonly deflated?: DeflatedMessages | undefined;
}

/** Pieces in the forms `protobuf` and `deflated-protobuf`; the latter undefined if the kernel did not write them. */
interface RenderedMessages {
  readonly messages: readonly Piece[];
  readonly deflated: readonly Piece[] | undefined;
}

export class ProtobufLines {
  readonly #kernel: Kernel;
  /** The last messages, by the first block. */
  readonly #known = new Map<Block, Converted>();
  #deflater: MessageDeflater | undefined;
  readonly #scratch: Scratch;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#scratch = new Scratch(kernel);
  }

  /**
   * Writes changed messages in small steps. Returns those of each family, and adds their buffers to `buffers`.
   * @param deflates whether to compress the messages
   */
  *rendering(
    families: readonly Family[],
    startOf: StartOf,
    buffers: RenderBuffer[],
    deflates: boolean,
  ): Generator<void, RenderedMessages> {
    const used = new Map<Block, Converted>();
    let bytes = 0;
    for (const family of families) {
      const nodeIdOf = nodeIdsOf(family);
      for (const group of groupsOf(family)) {
        const [first] = group.blocks;
        if (first === undefined) continue;
        const updated = this.#updated(group, this.#known.get(first), deflates);
        const next =
          updated ??
          (yield* this.#converting(family.metadata, group, (index) =>
            startOf(family.metadata, nodeIdOf(group.firstLine + index)),
          ));
        this.#replace(first, next);
        used.set(first, next);
        bytes += BYTES_A_BLOCK + next.piece.bytes * (updated === undefined ? 1 : VALUES_COST);
        if (bytes < BYTES_A_STEP) continue;
        bytes = 0;
        yield;
      }
    }
    for (const [block, { buffer }] of this.#known)
      if (!used.has(block)) {
        this.#known.delete(block);
        buffer.release();
      }
    if (deflates) yield* this.#deflating(used);
    const all = [...used.values()];
    buffers.push(...all.map(({ buffer }) => buffer));
    const deflated = all
      .map((each) => this.#deflatedPiece(each))
      .filter((each) => each !== undefined);
    return {
      messages: all.map(({ piece }) => piece),
      deflated: deflates && deflated.length === all.length ? deflated : undefined,
    };
  }

  /** Frees all messages that no snapshot holds. */
  close(): void {
    for (const { buffer } of this.#known.values()) buffer.release();
    this.#known.clear();
    this.#deflater?.close();
    this.#deflater = undefined;
    this.#scratch.close();
  }

  /** Keeps messages instead of the last ones of the same blocks. */
  #replace(first: Block, next: Converted): void {
    const last = this.#known.get(first);
    this.#known.set(first, next);
    if (last !== next && last?.buffer.isFreed === false) last.buffer.release();
  }

  /** Adds a deflate block to all messages that have none and are not too long, in small steps. */
  *#deflating(messages: Map<Block, Converted>): Generator<void, void> {
    let bytes = 0;
    for (const [first, converted] of messages) {
      const { piece, deflated: last } = converted;
      if (last !== undefined || piece.bytes > MAX_DEFLATED_BYTES) continue;
      const deflater = (this.#deflater ??= new MessageDeflater(this.#kernel));
      deflater.chooseCode(() => longest(messages.values(), converted));
      const { buffer, deflated } = deflater.deflate(converted);
      const next = { ...converted, buffer, piece: this.#pieceIn(buffer, piece), deflated };
      this.#replace(first, next);
      messages.set(first, next);
      bytes += piece.bytes;
      if (bytes < BYTES_A_STEP) continue;
      bytes = 0;
      yield;
    }
  }

  #deflatedPiece({ buffer, piece, deflated }: Converted): Piece | undefined {
    if (deflated === undefined) return undefined;
    const { at, bytes, crc } = deflated;
    const data = this.#kernel.view(buffer.address + at, bytes);
    return { ...piece, data, crc };
  }

  /**
   * The last messages of the same lines, with their current values; undefined if they must be converted.
   * @param deflates whether they may have a deflate block
   */
  #updated(
    { blocks }: BlockGroup,
    known: Converted | undefined,
    deflates: boolean,
  ): Converted | undefined {
    if (known === undefined || !isSame(known.blocks, blocks)) return undefined;
    const { canWrite, piece, deflated } = known;
    if (deflated !== undefined && !deflates) return undefined;
    if (blocks.every(({ messagesDirtyFlags }) => messagesDirtyFlags === 0)) return known;
    const haveLinesChanged = blocks.some(
      ({ messagesDirtyFlags }) => (messagesDirtyFlags & LINES_CHANGED) !== 0,
    );
    if (!canWrite || haveLinesChanged) return undefined;
    const buffer = this.#writable(known.buffer);
    const code = deflated === undefined ? 0 : (this.#deflater?.table ?? 0);
    let [firstLine, crc] = [0, deflated?.crc ?? 0];
    for (const { address, count } of blocks) {
      crc ^= this.#kernel.run.writeValues(address, buffer.address, firstLine, code);
      firstLine += count;
    }
    return {
      ...{ ...known, buffer, piece: this.#pieceIn(buffer, piece) },
      deflated: deflated && { ...deflated, crc: crc >>> 0 },
    };
  }

  /** Returns the piece with its data in another buffer. */
  #pieceIn({ address }: RenderBuffer, piece: Piece): Piece {
    const at = address + MESSAGES_PLACES + piece.lines * PLACE_BYTES;
    return { ...piece, data: this.#kernel.view(at, piece.data.length) };
  }

  /** The text of a block, valid until the next call. */
  #textOf(block: Block): Uint8Array {
    const at = this.#scratch.reserve(block.maxBytes + PADDING_BYTES);
    return this.#kernel.view(at, block.write(at));
  }

  /** The last buffer if no snapshot holds it, else a copy. */
  #writable(last: RenderBuffer): RenderBuffer {
    const reused = last.reuse();
    if (reused !== undefined) return reused;
    const copy = new RenderBuffer(this.#kernel, last.capacity);
    this.#kernel.run.copy(copy.address, last.address, last.capacity);
    return copy;
  }

  *#converting(
    family: FamilyMetadata,
    group: BlockGroup,
    startOf: StartOfLine,
  ): Generator<void, Converted> {
    const { blocks } = group;
    const sum = (of: (block: Block) => number): number =>
      blocks.reduce((all, block) => all + of(block), 0);
    const lines = sum(({ count }) => count);
    const writer = metricWriter(
      family,
      sum(({ bytes }) => bytes),
      lines,
    );
    let [line, step] = [0, 0];
    for (const block of blocks) {
      const first = line;
      const text = this.#textOf(block);
      writer.add(text, hasStarts(family) ? (index) => startOf(first + index) : undefined);
      line += block.count;
      step += text.length;
      if (step < BYTES_A_STEP) continue;
      step = 0;
      yield;
    }
    const messages = writer.end();
    const { places } = writer;
    const messagesAt = MESSAGES_PLACES + lines * PLACE_BYTES;
    const buffer = new RenderBuffer(this.#kernel, messagesAt + messages.length);
    const { u32, bytes, run } = this.#kernel;
    u32.set([lines, messages.length], buffer.address / 4);
    u32.set(places ?? new Uint32Array(lines), (buffer.address + MESSAGES_PLACES) / 4);
    bytes.set(messages, buffer.address + messagesAt);
    for (const { address } of blocks) run.messagesWritten(address);
    const unplaced = { family, lines, data: messages, bytes: messages.length, crc: undefined };
    const piece = this.#pieceIn(buffer, unplaced);
    return {
      ...{ blocks: [...blocks], buffer, piece },
      canWrite: places !== undefined && canWriteAll(blocks, places),
    };
  }
}

/** The longest messages that are not too long to be compressed. */
function longest(all: Iterable<Converted>, first: Converted): Converted {
  let result = first;
  for (const each of all)
    if (each.piece.bytes <= MAX_DEFLATED_BYTES && each.piece.bytes > result.piece.bytes)
      result = each;
  return result;
}

/** Whether the kernel can write the values of all lines: it writes counts only from integers without a sign. */
function canWriteAll(blocks: readonly Block[], places: Uint32Array): boolean {
  let line = 0;
  for (const block of blocks)
    for (let i = 0; i < block.count; i++)
      if (((places[line++] ?? 0) & IS_COUNT) !== 0 && block.opcode(i) !== OPCODE.u64) return false;
  return true;
}

const isSame = (a: readonly object[], b: readonly object[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);

/** Each block is a group, or all blocks of histograms and summaries: one may begin in a block and end in the next. */
function* groupsOf({ metadata, blocks }: Family): Generator<BlockGroup> {
  if (isDistribution(metadata)) {
    yield { blocks, firstLine: 0 };
    return;
  }
  let firstLine = 0;
  for (const block of blocks) {
    yield { blocks: [block], firstLine };
    firstLine += block.count;
  }
}

// The form `protobuf` of lines: their text as messages, in buffers of the kernel's memory.
import type { FamilyMetadata, Piece } from '../../model.js';
import { BYTES_A_BLOCK } from '../text/block.js';
import type { Block } from '../text/block.js';
import { nodeIdsOf } from '../text/family.js';
import type { Family } from '../text/family.js';
import { RenderBuffer } from '../text/text-snapshot.js';
import { OPCODE } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { IS_COUNT, LINES_CHANGED, PLACE_BYTES } from '../wasm/layout.js';
import { hasStarts, isDistribution, metricWriter } from './metric-writers.js';
import type { StartOfLine } from './metric-writers.js';

/** The start of the lines of a node in a family, in Unix milliseconds; undefined if it is unknown. */
export type StartOf = (family: FamilyMetadata, nodeId: number) => number | undefined;

/** Converting this much text takes about half a millisecond. */
const BYTES_A_STEP = 65_536;
/** Writing changed values takes at most this part of the time to convert their text. */
const VALUES_COST = 1 / 64;

/** Consecutive pieces of text that are converted together, and their blocks. */
interface TextGroup {
  readonly pieces: readonly Piece[];
  readonly blocks: readonly Block[];
  /** The number of lines of the family before the first piece. */
  readonly firstLine: number;
}

/** The messages of a group. Their buffer begins with the places of the values, which the kernel reads. */
interface Converted {
  readonly blocks: readonly Block[];
  /** The number of bytes before the messages; undefined if values cannot be written into them. */
  readonly placesBytes: number | undefined;
  readonly buffer: RenderBuffer;
  readonly piece: Piece;
}

export class ProtobufLines {
  readonly #kernel: Kernel;
  /** The last messages, by the first block. */
  readonly #known = new Map<Block, Converted>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Converts changed text in small steps. Returns the messages of each family, and adds their buffers to `buffers`.
   * @param text the pieces of all families, in the same order
   */
  *rendering(
    families: readonly Family[],
    text: readonly Piece[],
    startOf: StartOf,
    buffers: RenderBuffer[],
  ): Generator<void, readonly Piece[]> {
    const used = new Map<Block, Converted>();
    let [at, bytes] = [0, 0];
    for (const family of families) {
      const start = at;
      while (text[at]?.family === family.metadata) at++;
      const nodeIdOf = nodeIdsOf(family);
      for (const group of groupsOf(family, text.slice(start, at))) {
        const [first] = group.blocks;
        if (first === undefined) continue;
        const known = this.#known.get(first);
        const updated = this.#updated(group, known);
        const next =
          updated ??
          (yield* this.#converting(family.metadata, group, (index) =>
            startOf(family.metadata, nodeIdOf(group.firstLine + index)),
          ));
        used.set(first, next);
        if (next !== known) {
          this.#known.set(first, next);
          if (known !== undefined && !known.buffer.isFreed) known.buffer.release();
        }
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
    const all = [...used.values()];
    buffers.push(...all.map(({ buffer }) => buffer));
    return all.map(({ piece }) => piece);
  }

  /** Frees all messages that no snapshot holds. */
  close(): void {
    for (const { buffer } of this.#known.values()) buffer.release();
    this.#known.clear();
  }

  /** The last messages of the same lines, with their current values; undefined if they must be converted. */
  #updated({ pieces, blocks }: TextGroup, known: Converted | undefined): Converted | undefined {
    if (known === undefined || !isSame(known.blocks, blocks)) return undefined;
    if (blocks.every(({ messagesDirtyFlags }) => messagesDirtyFlags === 0)) return known;
    const { placesBytes, piece } = known;
    const haveLinesChanged = blocks.some(
      ({ messagesDirtyFlags }) => (messagesDirtyFlags & LINES_CHANGED) !== 0,
    );
    if (placesBytes === undefined || haveLinesChanged) return undefined;
    const buffer = this.#writable(known.buffer);
    const messages = buffer.address + placesBytes;
    let places = buffer.address;
    for (const { address, count } of blocks) {
      this.#kernel.run.writeValues(address, places, messages);
      places += count * PLACE_BYTES;
    }
    const data = this.#kernel.view(messages, piece.data.length);
    return { ...known, buffer, piece: { ...piece, bytes: textBytes(pieces), data } };
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
    group: TextGroup,
    startOf: StartOfLine,
  ): Generator<void, Converted> {
    const { pieces, blocks } = group;
    const lines = pieces.reduce((sum, each) => sum + each.lines, 0);
    const bytes = textBytes(pieces);
    const writer = metricWriter(family, bytes, lines);
    let [line, step] = [0, 0];
    for (const piece of pieces) {
      const first = line;
      writer.add(piece.data, hasStarts(family) ? (index) => startOf(first + index) : undefined);
      line += piece.lines;
      step += piece.bytes;
      if (step < BYTES_A_STEP) continue;
      step = 0;
      yield;
    }
    const messages = writer.end();
    const places = writer.places && canWrite(blocks, writer.places) ? writer.places : undefined;
    const placesBytes = lines * PLACE_BYTES;
    const buffer = new RenderBuffer(this.#kernel, placesBytes + messages.length);
    this.#kernel.u32.set(places ?? [], buffer.address / PLACE_BYTES);
    const data = this.#kernel.view(buffer.address + placesBytes, messages.length);
    data.set(messages);
    for (const { address } of blocks) this.#kernel.run.messagesWritten(address);
    const piece = { family, lines, data, bytes, crc: undefined };
    return { blocks: [...blocks], placesBytes: places && placesBytes, buffer, piece };
  }
}

/** Whether the kernel can write the values of all lines: it writes counts only from integers without a sign. */
function canWrite(blocks: readonly Block[], places: Uint32Array): boolean {
  let line = 0;
  for (const block of blocks)
    for (let i = 0; i < block.count; i++)
      if (((places[line++] ?? 0) & IS_COUNT) !== 0 && block.opcode(i) !== OPCODE.u64) return false;
  return true;
}

const textBytes = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { bytes }) => sum + bytes, 0);

const isSame = (a: readonly object[], b: readonly object[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);

/**
 * Divides the text of a family into groups to convert: each piece, or all pieces of histograms and summaries, since one
 * may begin in a piece and end in the next.
 */
function groupsOf({ metadata, blocks }: Family, pieces: readonly Piece[]): readonly TextGroup[] {
  if (isDistribution(metadata)) return [{ pieces, blocks, firstLine: 0 }];
  let [block, firstLine] = [0, 0];
  return pieces.map((piece) => {
    const [start, first] = [block, firstLine];
    firstLine += piece.lines;
    for (let line = first; line < firstLine; block++) line += blocks[block]?.count ?? Infinity;
    return { pieces: [piece], blocks: blocks.slice(start, block), firstLine: first };
  });
}

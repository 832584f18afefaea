// The form `protobuf` of lines: their text as messages, in buffers of the kernel's memory.
import { bytesOf } from '../../bytes.js';
import type { FamilyMetadata, Piece } from '../../model.js';
import { BYTES_A_BLOCK } from '../text/block.js';
import type { Block } from '../text/block.js';
import type { Family } from '../text/family.js';
import { RenderBuffer } from '../text/text-snapshot.js';
import type { Kernel } from '../wasm/kernel.js';
import { hasStarts, isDistribution, metricWriter, setValues } from './metric-writers.js';
import type { StartOfLine, ValuePlaces } from './metric-writers.js';

/** The start of the lines of a node in a family, in Unix milliseconds; undefined if it is unknown. */
export type StartOf = (family: FamilyMetadata, nodeId: number) => number | undefined;

/** Converting this much text takes about half a millisecond. */
const BYTES_A_STEP = 65_536;
/** Reading the values of a text takes this part of the time to convert it. */
const VALUES_COST = 1 / 8;

/** Consecutive pieces of text that are converted together, and their blocks. */
interface TextGroup {
  readonly pieces: readonly Piece[];
  readonly blocks: readonly Block[];
  /** The number of lines of the family before the first piece. */
  readonly firstLine: number;
}

/** The messages of a group. */
interface Converted {
  readonly texts: readonly Uint8Array[];
  /** The `linesKey` of each block. */
  readonly linesKeys: readonly object[];
  readonly places: ValuePlaces | undefined;
  readonly piece: Piece;
  readonly buffer: RenderBuffer;
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
        if (known !== undefined && isSame(known.texts, textsOf(group))) {
          used.set(first, known);
          bytes += BYTES_A_BLOCK;
        } else {
          const written =
            this.#withValues(group, known) ??
            (yield* this.#converting(family.metadata, group, (index) =>
              startOf(family.metadata, nodeIdOf(group.firstLine + index)),
            ));
          this.#known.set(first, written);
          used.set(first, written);
          if (known !== undefined && !known.buffer.isFreed) known.buffer.release();
          bytes += written.piece.bytes * VALUES_COST;
        }
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

  /** The last messages of the same lines, with their current values; undefined if the lines differ. */
  #withValues(group: TextGroup, known: Converted | undefined): Converted | undefined {
    const { pieces, blocks } = group;
    const [piece] = pieces;
    if (known?.places === undefined || piece === undefined) return undefined;
    const linesKeys = linesKeysOf(blocks);
    if (!isSame(known.linesKeys, linesKeys)) return undefined;
    const { places } = known;
    // Write into the last buffer if no snapshot holds it.
    const buffer = known.buffer.reuse() ?? this.#buffer(known.piece.data);
    const data = this.#kernel.view(buffer.address, known.piece.data.length);
    setValues(piece.data, places, data);
    return { texts: textsOf(group), linesKeys, places, buffer, piece: { ...piece, data } };
  }

  *#converting(
    family: FamilyMetadata,
    group: TextGroup,
    startOf: StartOfLine,
  ): Generator<void, Converted> {
    const { pieces, blocks } = group;
    const texts = textsOf(group);
    const lines = pieces.reduce((sum, each) => sum + each.lines, 0);
    const bytes = bytesOf(texts);
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
    const buffer = this.#buffer(messages);
    const data = this.#kernel.view(buffer.address, messages.length);
    const piece = { family, lines, data, bytes, crc: undefined };
    return { texts, linesKeys: linesKeysOf(blocks), places: writer.places, buffer, piece };
  }

  /** A new buffer with a copy of the messages. */
  #buffer(messages: Uint8Array): RenderBuffer {
    const buffer = new RenderBuffer(this.#kernel, Math.max(1, messages.length));
    this.#kernel.view(buffer.address, messages.length).set(messages);
    return buffer;
  }
}

const textsOf = ({ pieces }: TextGroup): readonly Uint8Array[] => pieces.map(({ data }) => data);

const linesKeysOf = (blocks: readonly Block[]): readonly object[] =>
  blocks.map(({ linesKey }) => linesKey);

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

/** Returns the node ids of the lines of a family, for growing line numbers. */
function nodeIdsOf({ blocks }: Family): (line: number) => number {
  let [index, first] = [0, 0];
  return (line) => {
    let block = blocks[index];
    while (block !== undefined && line >= first + block.count) {
      first += block.count;
      block = blocks[++index];
    }
    return block?.nodeId(line - first) ?? 0;
  };
}

// The form `protobuf` of lines: their text as messages, in buffers of the kernel's memory.
import { bytesOf } from '../../bytes.js';
import type { FamilyMetadata, Piece } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import { BYTES_A_BLOCK } from './block.js';
import type { Family } from './family.js';
import { hasStarts, isDistribution, metricWriter } from './metric-messages.js';
import type { StartOfLine } from './metric-messages.js';
import { RenderBuffer } from './text-snapshot.js';

/** The start of the lines of a node in a family, in Unix milliseconds; undefined if it is unknown. */
export type StartOf = (family: FamilyMetadata, nodeId: number) => number | undefined;

/** Converting this much text takes about half a millisecond. */
const BYTES_A_STEP = 65_536;

/** The messages of consecutive pieces of text. */
interface Converted {
  readonly texts: readonly Uint8Array[];
  readonly piece: Piece;
  readonly buffer: RenderBuffer;
}

export class Messages {
  readonly #kernel: Kernel;
  /** The last messages, by the first text. Text that has not changed is in the same object. */
  readonly #known = new Map<Uint8Array, Converted>();

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
    const used = new Set<Converted>();
    let [at, bytes] = [0, 0];
    for (const family of families) {
      const start = at;
      while (text[at]?.family === family.metadata) at++;
      const nodeIdOf = nodeIdsOf(family);
      let line = 0;
      for (const pieces of groupsOf(family.metadata, text.slice(start, at))) {
        const first = line;
        for (const { lines } of pieces) line += lines;
        let converted = this.#knownOf(pieces);
        bytes += converted === undefined ? 0 : BYTES_A_BLOCK;
        converted ??= yield* this.#converting(family.metadata, pieces, (index) =>
          startOf(family.metadata, nodeIdOf(first + index)),
        );
        used.add(converted);
        if (bytes < BYTES_A_STEP) continue;
        bytes = 0;
        yield;
      }
    }
    for (const [key, each] of this.#known)
      if (!used.has(each)) {
        this.#known.delete(key);
        each.buffer.release();
      }
    const all = [...used];
    buffers.push(...all.map(({ buffer }) => buffer));
    return all.map(({ piece }) => piece);
  }

  /** Frees all messages that no snapshot holds. */
  close(): void {
    for (const { buffer } of this.#known.values()) buffer.release();
    this.#known.clear();
  }

  #knownOf(pieces: readonly Piece[]): Converted | undefined {
    const known = pieces[0] && this.#known.get(pieces[0].data);
    const isSame =
      known?.texts.length === pieces.length &&
      pieces.every(({ data }, index) => known.texts[index] === data);
    return isSame ? known : undefined;
  }

  *#converting(
    family: FamilyMetadata,
    pieces: readonly Piece[],
    startOf: StartOfLine,
  ): Generator<void, Converted> {
    const texts = pieces.map(({ data }) => data);
    const bytes = bytesOf(texts);
    const writer = metricWriter(family, bytes);
    let [lines, step] = [0, 0];
    for (const piece of pieces) {
      const first = lines;
      writer.add(piece.data, hasStarts(family) ? (line) => startOf(first + line) : undefined);
      lines += piece.lines;
      step += piece.bytes;
      if (step < BYTES_A_STEP) continue;
      step = 0;
      yield;
    }
    const messages = writer.end();
    const buffer = new RenderBuffer(this.#kernel, Math.max(1, messages.length));
    const data = this.#kernel.view(buffer.address, messages.length);
    data.set(messages);
    const converted = { texts, buffer, piece: { family, lines, data, bytes, crc: undefined } };
    const [key] = texts;
    if (key !== undefined) {
      this.#known.get(key)?.buffer.release();
      this.#known.set(key, converted);
    }
    return converted;
  }
}

/** The pieces to convert together. A histogram or summary may begin in one piece and end in the next. */
const groupsOf = (
  family: FamilyMetadata,
  pieces: readonly Piece[],
): readonly (readonly Piece[])[] =>
  isDistribution(family) ? [pieces] : pieces.map((each) => [each]);

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

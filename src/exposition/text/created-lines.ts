// The form `created` of lines: their text with `_created` lines, which state start times in OpenMetrics 1.0.
import type { Piece } from '../../model.js';
import { hasStarts, isValidStart } from '../protobuf/metric-writers.js';
import type { StartOfLine } from '../protobuf/metric-writers.js';
import type { StartOf } from '../protobuf/protobuf-lines.js';
import type { Kernel } from '../wasm/kernel.js';
import { nodeIdsOf } from './family.js';
import type { Family } from './family.js';
import { RenderBuffer } from './render-buffer.js';

interface Converted {
  readonly piece: Piece;
  readonly buffer: RenderBuffer;
}

export class CreatedLines {
  readonly #kernel: Kernel;
  /** The last result for each piece of text. */
  readonly #known = new Map<Piece, Converted>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /**
   * Converts changed text, one piece per step. Returns the pieces of all families, and adds new buffers to `buffers`.
   * @param text the pieces of all families, in the same order; those of families without start times stay as they are
   */
  *rendering(
    families: readonly Family[],
    text: readonly Piece[],
    startOf: StartOf,
    buffers: RenderBuffer[],
  ): Generator<void, readonly Piece[]> {
    const used = new Set<Piece>();
    const all: Piece[] = [];
    let at = 0;
    for (const family of families) {
      const { metadata } = family;
      const nodeIdOf = nodeIdsOf(family);
      let first = 0;
      for (let piece = text[at]; piece?.family === metadata; piece = text[++at]) {
        const before = first;
        first += piece.lines;
        if (!hasStarts(metadata)) {
          all.push(piece);
          continue;
        }
        let converted = this.#known.get(piece);
        if (converted === undefined) {
          converted = this.#convert(piece, (line) => startOf(metadata, nodeIdOf(before + line)));
          this.#known.set(piece, converted);
          yield;
        }
        used.add(piece);
        all.push(converted.piece);
        buffers.push(converted.buffer);
      }
    }
    for (const [piece, { buffer }] of this.#known)
      if (!used.has(piece)) {
        this.#known.delete(piece);
        buffer.release();
      }
    return all;
  }

  /** Frees all text that no snapshot holds. */
  close(): void {
    for (const { buffer } of this.#known.values()) buffer.release();
    this.#known.clear();
  }

  #convert(piece: Piece, startOf: StartOfLine): Converted {
    const text = withCreated(piece, startOf);
    const buffer = new RenderBuffer(this.#kernel, text.length);
    const data = this.#kernel.view(buffer.address, text.length);
    data.set(text);
    return { piece: { ...piece, data, bytes: text.length }, buffer };
  }
}

/** Adds a line after each counter, and after the count of each histogram and summary, which is its last line. */
function withCreated({ family: { name, type }, data }: Piece, startOf: StartOfLine): Buffer {
  const last = type === 'counter' ? name : `${name}_count`;
  const created = `${name.replace(/_total$/, '')}_created`;
  // Latin-1 keeps each byte as it is.
  const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString('latin1');
  let all = '';
  text.split('\n').forEach((line, index) => {
    if (line === '') return;
    all += `${line}\n`;
    const start = line.startsWith(last) ? startOf(index) : undefined;
    if (isValidStart(start))
      all += `${created}${line.slice(last.length, line.lastIndexOf(' '))} ${start / 1000}\n`;
  });
  return Buffer.from(all, 'latin1');
}

// The Huffman code of a target's deflate streams. It is made from counts of symbols; the kernel reads it as a table.
import { BitWriter, blockHeader, codeBits, codeLengths, wordsFor } from './huffman.js';
import type { Bits, CodeLengths } from './huffman.js';
import {
  CODE_BASES,
  CODE_BYTES,
  CODE_DISTANCES,
  CODE_DISTANCE_SYMBOLS,
  CODE_END,
  CODE_HEADER,
  CODE_HEADER_BITS,
  CODE_LENGTHS,
  DISTANCE_SYMBOLS,
  LITERAL_LENGTH_SYMBOLS,
  LONGEST_CODE,
  MAX_MATCH,
} from '../wasm/layout.js';

/** The number of symbols: literals and lengths, then distances. */
export const SYMBOLS = LITERAL_LENGTH_SYMBOLS + DISTANCE_SYMBOLS;
const END_OF_BLOCK = 256;

export class DeflateCode {
  readonly #literalLengths: CodeLengths;
  readonly #distanceLengths: CodeLengths;
  readonly #literalCodes: readonly number[];
  readonly #distanceCodes: readonly number[];
  #header: readonly Bits[] | undefined;
  #headerBits: number | undefined;
  #overheadBits: number | undefined;
  #table: Uint8Array | undefined;

  /** @param lengths the code lengths of 286 literal and length symbols, then of 30 distance symbols; none is 0 */
  constructor(lengths: CodeLengths) {
    this.#literalLengths = lengths.slice(0, LITERAL_LENGTH_SYMBOLS);
    this.#distanceLengths = lengths.slice(LITERAL_LENGTH_SYMBOLS);
    this.#literalCodes = codeBits(this.#literalLengths);
    this.#distanceCodes = codeBits(this.#distanceLengths);
  }

  /**
   * Returns the best code for symbols with these counts. A symbol that did not occur gets a long code, since it may
   * occur later.
   */
  static of(counts: readonly number[]): DeflateCode {
    // A symbol that never occurred counts as an eighth of an occurrence.
    const weights = counts.map((count) => 8 * count + 1);
    return new DeflateCode([
      ...codeLengths(weights.slice(0, LITERAL_LENGTH_SYMBOLS), LONGEST_CODE),
      ...codeLengths(weights.slice(LITERAL_LENGTH_SYMBOLS), LONGEST_CODE),
    ]);
  }

  /** The header of a block that is not the last one. */
  get header(): readonly Bits[] {
    return (this.#header ??= blockHeader(this.#literalLengths, this.#distanceLengths));
  }
  get headerBits(): number {
    return (this.#headerBits ??= this.header.reduce((sum, [, count]) => sum + count, 0));
  }
  /**
   * The size of a block whose symbols take this many bits, with the empty stored block that aligns its end to a byte.
   */
  blockBytes(bits: number): number {
    this.#overheadBits ??= this.headerBits + this.endOfBlock[1] + 3;
    return Math.ceil((this.#overheadBits + bits) / 8) + 4;
  }
  get endOfBlock(): Bits {
    return this.codeOf(END_OF_BLOCK);
  }

  codeOf(symbol: number): Bits {
    return [this.#literalCodes[symbol] ?? 0, this.#literalLengths[symbol] ?? 0];
  }

  /** The code as the table that the kernel reads. */
  get table(): Uint8Array {
    return (this.#table ??= this.#makeTable());
  }

  #makeTable(): Uint8Array {
    const table = new DataView(new ArrayBuffer(CODE_BYTES));
    for (let byte = 0; byte < 256; byte++) setCode(table, byte * 4, this.codeOf(byte));
    for (let length = 3; length <= MAX_MATCH; length++) {
      const [symbol, extra] = lengthSymbol(length);
      const [bits, count] = this.codeOf(symbol);
      setCode(table, CODE_LENGTHS + length * 4, [bits + extra[0] * 2 ** count, count + extra[1]]);
    }
    DISTANCE_BASES.forEach((base, symbol) => {
      const count = this.#distanceLengths[symbol] ?? 0;
      setCode(table, CODE_DISTANCES + symbol * 4, [this.#distanceCodes[symbol] ?? 0, count]);
      table.setUint16(CODE_BASES + symbol * 2, base, true);
    });
    for (let i = 0; i < 256; i++) {
      table.setUint8(CODE_DISTANCE_SYMBOLS + i, distanceSymbol(i + 1));
      table.setUint8(CODE_DISTANCE_SYMBOLS + 256 + i, distanceSymbol(i * 128 + 1));
    }
    table.setUint32(CODE_HEADER_BITS, this.headerBits, true);
    setCode(table, CODE_END, this.endOfBlock);
    const writer = new BitWriter(new Uint32Array(wordsFor(this.headerBits)));
    for (const bits of this.header) writer.put(bits);
    const bytes = new Uint8Array(table.buffer);
    bytes.set(writer.bytes(), CODE_HEADER);
    return bytes;
  }
}

function setCode(table: DataView, at: number, [bits, count]: Bits): void {
  table.setUint32(at, bits + count * 2 ** 24, true);
}

/** The symbol of a length from 3 to 258, and its extra bits. */
function lengthSymbol(length: number): readonly [symbol: number, extra: Bits] {
  if (length === MAX_MATCH) return [285, [0, 0]];
  const n = length - 3;
  if (n < 8) return [257 + n, [0, 0]];
  const bits = 31 - Math.clz32(n) - 2;
  return [257 + bits * 4 + (n >> bits), [n % 2 ** bits, bits]];
}

/** The shortest distance of each distance symbol. */
const DISTANCE_BASES: readonly number[] = Array.from({ length: DISTANCE_SYMBOLS }, (_, symbol) =>
  symbol < 4 ? symbol + 1 : 1 + (2 + (symbol % 2)) * 2 ** ((symbol >> 1) - 1),
);

const distanceSymbol = (distance: number): number =>
  DISTANCE_BASES.findLastIndex((base) => base <= distance);

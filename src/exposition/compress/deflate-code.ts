// The Huffman code of a target's deflate blocks, as the table that the kernel reads. RFC 1951, 3.1.1 and 3.2.
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

/** The number of bits of each symbol. */
type CodeLengths = readonly number[];

/** Bits, lowest first, and their number. */
type Bits = readonly [bits: number, count: number];
const NO_BITS: Bits = [0, 0];

/**
 * Returns the table (wasm/layout.ts) of the best code for symbols with these counts. A symbol that did not occur gets a
 * long code, since it may occur later.
 */
export const deflateTable = (counts: readonly number[]): Uint8Array =>
  tableOf(
    codeLengths(counts.slice(0, LITERAL_LENGTH_SYMBOLS), LONGEST_CODE),
    codeLengths(counts.slice(LITERAL_LENGTH_SYMBOLS), LONGEST_CODE),
  );

/** Returns a table in which every literal has nine bits, so that the kernel can overwrite literals in place. */
export const evenDeflateTable = (counts: readonly number[]): Uint8Array => {
  // The literals take half of all codes, and the other symbols the other half.
  const others = codeLengths(counts.slice(END_OF_BLOCK, LITERAL_LENGTH_SYMBOLS), LONGEST_CODE - 1);
  return tableOf(
    [...Array.from({ length: END_OF_BLOCK }, () => 9), ...others.map((length) => length + 1)],
    codeLengths(counts.slice(LITERAL_LENGTH_SYMBOLS), LONGEST_CODE),
  );
};

function tableOf(literalLengths: CodeLengths, distanceLengths: CodeLengths): Uint8Array {
  const literals = codesOf(literalLengths);
  const distances = codesOf(distanceLengths);
  const bytes = new Uint8Array(CODE_BYTES);
  const table = new DataView(bytes.buffer);
  const set = (at: number, [bits, count]: Bits = NO_BITS): void => {
    table.setUint32(at, bits + count * 2 ** 24, true);
  };
  for (let byte = 0; byte < 256; byte++) set(byte * 4, literals[byte]);
  for (let length = 3; length <= MAX_MATCH; length++) {
    const [symbol, [extra, extraBits]] = lengthSymbol(length);
    const [bits, count] = literals[symbol] ?? NO_BITS;
    set(CODE_LENGTHS + length * 4, [bits + extra * 2 ** count, count + extraBits]);
  }
  DISTANCE_BASES.forEach((base, symbol) => {
    set(CODE_DISTANCES + symbol * 4, distances[symbol]);
    table.setUint16(CODE_BASES + symbol * 2, base, true);
  });
  for (let i = 0; i < 256; i++) {
    table.setUint8(CODE_DISTANCE_SYMBOLS + i, distanceSymbol(i + 1));
    table.setUint8(CODE_DISTANCE_SYMBOLS + 256 + i, distanceSymbol(i * 128 + 1));
  }
  set(CODE_END, literals[END_OF_BLOCK]);
  let at = CODE_HEADER * 8;
  for (const [bits, count] of blockHeader(literalLengths, distanceLengths))
    for (let i = 0; i < count; i++, at++)
      bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (((bits >> i) & 1) << (at & 7));
  table.setUint32(CODE_HEADER_BITS, at - CODE_HEADER * 8, true);
  return bytes;
}

interface Package {
  readonly weight: number;
  readonly symbols: readonly number[];
}

/**
 * The optimal code lengths of at most `limit` bits for symbols with these counts, by the package-merge algorithm. A
 * symbol that never occurred counts as an eighth of an occurrence.
 */
export function codeLengths(counts: readonly number[], limit: number): CodeLengths {
  const leaves = counts
    .map((count, symbol): Package => ({ weight: 8 * count + 1, symbols: [symbol] }))
    .sort((a, b) => a.weight - b.weight);
  let level = leaves;
  for (let bits = 1; bits < limit; bits++) {
    const pairs: Package[] = [];
    for (let i = 0; i + 1 < level.length; i += 2) {
      const [a, b] = [level[i], level[i + 1]];
      if (a !== undefined && b !== undefined)
        pairs.push({ weight: a.weight + b.weight, symbols: [...a.symbols, ...b.symbols] });
    }
    level = [...leaves, ...pairs].sort((a, b) => a.weight - b.weight);
  }
  const lengths = counts.map(() => 0);
  for (const { symbols } of level.slice(0, 2 * (leaves.length - 1)))
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
  return lengths;
}

/** The code of each symbol, lowest bit first, as deflate writes it. */
export function codesOf(lengths: CodeLengths): readonly Bits[] {
  let next = 0;
  const codes = lengths.map(() => NO_BITS);
  for (let length = 1; length <= LONGEST_CODE; length++) {
    lengths.forEach((own, symbol) => {
      if (own === length) codes[symbol] = [reversed(next++, length), length];
    });
    next *= 2;
  }
  return codes;
}

function reversed(bits: number, length: number): number {
  let result = 0;
  for (let i = 0; i < length; i++) result = result * 2 + ((bits >> i) & 1);
  return result;
}

/** The order in which a header lists the lengths of the code-length code. RFC 1951, 3.2.7. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** The header of a block that is not the last one. It states the length of each symbol's code, without run lengths. */
function blockHeader(literals: CodeLengths, distances: CodeLengths): readonly Bits[] {
  const all = [...literals, ...distances];
  const counts = Array.from({ length: LONGEST_CODE + 1 }, () => 0);
  for (const length of all) counts[length] = (counts[length] ?? 0) + 1;
  const lengths = codeLengths(counts, 7);
  const codes = codesOf(lengths);
  return [
    [0, 1], // not the last block
    [2, 2], // with dynamic Huffman codes
    [literals.length - 257, 5],
    [distances.length - 1, 5],
    [ORDER.length - 4, 4],
    ...ORDER.map((length): Bits => [lengths[length] ?? 0, 3]),
    ...all.map((length) => codes[length] ?? NO_BITS),
  ];
}

/** The symbol of a length from 3 to 258, and its extra bits. */
function lengthSymbol(length: number): readonly [symbol: number, extra: Bits] {
  if (length === MAX_MATCH) return [285, NO_BITS];
  const n = length - 3;
  if (n < 8) return [257 + n, NO_BITS];
  const bits = 31 - Math.clz32(n) - 2;
  return [257 + bits * 4 + (n >> bits), [n % 2 ** bits, bits]];
}

/** The shortest distance of each distance symbol. */
const DISTANCE_BASES: readonly number[] = Array.from({ length: DISTANCE_SYMBOLS }, (_, symbol) =>
  symbol < 4 ? symbol + 1 : 1 + (2 + (symbol % 2)) * 2 ** ((symbol >> 1) - 1),
);

const distanceSymbol = (distance: number): number =>
  DISTANCE_BASES.findLastIndex((base) => base <= distance);

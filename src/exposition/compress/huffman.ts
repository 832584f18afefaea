// Huffman codes of limited length, the block header that states their lengths, and a writer of bits. RFC 1951, 3.1.1
// and 3.2.

/** The number of bits of each symbol; 0 for a symbol that never occurs. */
export type CodeLengths = readonly number[];

interface Package {
  readonly weight: number;
  readonly symbols: readonly number[];
}

/** The optimal code lengths of at most `limit` bits for symbols with these counts, by the package-merge algorithm. */
export function codeLengths(counts: readonly number[], limit: number): CodeLengths {
  const lengths = counts.map(() => 0);
  const leaves = counts
    .map((weight, symbol): Package => ({ weight, symbols: [symbol] }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => a.weight - b.weight);
  if (leaves.length === 1) {
    lengths[leaves[0]?.symbols[0] ?? 0] = 1;
    return lengths;
  }
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
  for (const { symbols } of level.slice(0, 2 * (leaves.length - 1)))
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
  return lengths;
}

/** The code of each symbol, lowest bit first, as deflate writes it. */
export function codeBits(lengths: CodeLengths): readonly number[] {
  let next = 0;
  const bits = lengths.map(() => 0);
  for (let length = 1; length <= 15; length++) {
    lengths.forEach((own, symbol) => {
      if (own === length) bits[symbol] = reversed(next++, length);
    });
    next *= 2;
  }
  return bits;
}

function reversed(bits: number, length: number): number {
  let result = 0;
  for (let i = 0; i < length; i++) result = result * 2 + ((bits >> i) & 1);
  return result;
}

/** The order in which a header lists the lengths of the code-length code. RFC 1951, 3.2.7. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Bits, lowest first, and their number. */
export type Bits = readonly [bits: number, count: number];

/**
 * The header of a block. It states the lengths of 286 codes of literals and lengths, and of 30 codes of distances.
 */
export function blockHeader(literals: CodeLengths, distances: CodeLengths): readonly Bits[] {
  const runs = runsOf([...literals, ...distances]);
  const counts = Array.from({ length: 19 }, () => 0);
  for (const [symbol] of runs) counts[symbol] = (counts[symbol] ?? 0) + 1;
  const lengths = codeLengths(counts, 7);
  const bits = codeBits(lengths);
  const header: Bits[] = [
    [0, 1], // not the last block
    [2, 2], // with dynamic Huffman codes
    [literals.length - 257, 5],
    [distances.length - 1, 5],
    [ORDER.length - 4, 4],
  ];
  for (const symbol of ORDER) header.push([lengths[symbol] ?? 0, 3]);
  for (const [symbol, extra, extraBits] of runs) {
    header.push([bits[symbol] ?? 0, lengths[symbol] ?? 0]);
    if (extraBits > 0) header.push([extra, extraBits]);
  }
  return header;
}

/** Run-length encodes code lengths. Returns symbols, each with the value and the number of its extra bits. */
function runsOf(lengths: CodeLengths): readonly (readonly [number, number, number])[] {
  const runs: [number, number, number][] = [];
  for (let at = 0; at < lengths.length;) {
    const length = lengths[at] ?? 0;
    let run = 1;
    while (lengths[at + run] === length) run++;
    at += run;
    if (length !== 0) {
      runs.push([length, 0, 0]);
      run--;
    }
    while (run > 0) {
      const most = length === 0 ? 138 : 6;
      const part = run < 3 ? 1 : Math.min(run, most);
      if (part === 1) runs.push([length, 0, 0]);
      else if (length !== 0) runs.push([16, part - 3, 2]);
      else if (part <= 10) runs.push([17, part - 3, 3]);
      else runs.push([18, part - 11, 7]);
      run -= part;
    }
  }
  return runs;
}

/** The number of words that a `BitWriter` needs for this many bits. */
export const wordsFor = (bits: number): number => Math.ceil(bits / 32) + 2;

/** Writes a deflate stream bit by bit, lowest bit first. */
export class BitWriter {
  readonly #words: Uint32Array;
  #at = 0;
  /** The bits of the word that is not full yet, and their number. */
  #word = 0;
  #used = 0;

  /** @param words memory for all bits, plus one word */
  constructor(words: Uint32Array) {
    this.#words = words;
  }

  /** Adds at most 31 bits. */
  put([bits, count]: Bits): void {
    this.#word |= bits << this.#used;
    const used = this.#used + count;
    if (used < 32) {
      this.#used = used;
      return;
    }
    this.#words[this.#at++] = this.#word;
    this.#word = this.#used === 0 ? 0 : bits >>> (32 - this.#used);
    this.#used = used - 32;
  }

  /** The bits that were written, padded to a whole byte. */
  bytes(): Uint8Array {
    this.#words[this.#at] = this.#word;
    const { buffer, byteOffset } = this.#words;
    return new Uint8Array(buffer, byteOffset, this.#at * 4 + Math.ceil(this.#used / 8));
  }
}

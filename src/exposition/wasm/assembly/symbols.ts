// Writes or counts the symbols of a deflate stream in a given Huffman code.
import { copyBits, put } from './bits';

// The table of a Huffman code, which ../../compress/deflate-code.ts makes. The first three arrays hold the code of each
// symbol, with its number of bits in the highest byte. The codes of lengths include the extra bits.
//
//   0               1024           2060             2180        2240         2752        2760     3272
//   +---------------+--------------+----------------+-----------+------------+-----------+--------+
//   | literals u32  | lengths u32  | distance codes | base u16  | symbol of a| bits u32, | header |
//   | 0 … 255       | 0 … 258      | 0 … 29 u32     | 0 … 29    | distance u8| end u32   |        |
//   +---------------+--------------+----------------+-----------+------------+-----------+--------+
//
// `header` is the header of a deflate block, `bits` its length in bits, and `end` the code of the end-of-block symbol.
const LENGTHS: usize = 1024;
const DISTANCES: usize = 2060;
const BASES: usize = 2180;
const SYMBOLS: usize = 2240;
const HEADER_BITS: usize = 2752;
const END: usize = 2756;
const HEADER: usize = 2760;

const LONGEST_CODE: u32 = 15;
/** The maximum number of bytes of a match; longer ones are split. */
export const MAX_MATCH: u32 = 258;
const LINE_FEED: u32 = 0x0a;

/** The address of the counts of 286 literal/length symbols and 30 distance symbols; 0 while symbols are written. */
let counts: usize = 0;

/** Counts symbols at this address instead of writing them; 0 ends the counting. */
export function countAt(address: usize): void {
  counts = address;
}

export function areCounted(): bool {
  return counts != 0;
}

function count(symbol: u32): void {
  const at = counts + ((<usize>symbol) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

export function writeLiterals(at: u64, code: usize, from: usize, to: usize): u64 {
  if (counts != 0) {
    for (let byte = from; byte < to; byte++) count(load<u8>(byte));
    return at;
  }
  let bits: u64 = 0;
  let used: u32 = 0;
  for (let byte = from; byte < to; byte++) {
    const symbol = load<u32>(code + ((<usize>load<u8>(byte)) << 2));
    bits |= (<u64>(symbol & 0xffffff)) << used;
    used += symbol >> 24;
    if (used <= 56 - LONGEST_CODE) continue;
    at = put(at, bits, used);
    bits = used = 0;
  }
  return put(at, bits, used);
}

export function writeLineFeed(at: u64, code: usize): u64 {
  if (counts != 0) {
    count(LINE_FEED);
    return at;
  }
  const symbol = load<u32>(code, LINE_FEED << 2);
  return put(at, symbol & 0xffffff, symbol >> 24);
}

/** Writes a match: `length` bytes that also occur `distance` bytes earlier. */
export function writeMatch(at: u64, code: usize, length: u32, distance: u32): u64 {
  const symbol = distanceSymbol(code, distance);
  const entry = load<u32>(code + DISTANCES + ((<usize>symbol) << 2));
  const codeBits = entry >> 24;
  const size = codeBits + extraBits(symbol);
  const extra = distance - <u32>load<u16>(code + BASES + ((<usize>symbol) << 1));
  const bits = <u64>((entry & 0xffffff) | (extra << codeBits));
  while (length > 0) {
    // The rest must be long enough for another match.
    const part = length <= MAX_MATCH ? length : length - MAX_MATCH < 3 ? MAX_MATCH - 3 : MAX_MATCH;
    length -= part;
    if (counts != 0) {
      count(lengthSymbol(part));
      count(286 + symbol);
      continue;
    }
    const lengthCode = load<u32>(code + LENGTHS + ((<usize>part) << 2));
    at = put(at, (lengthCode & 0xffffff) | (bits << (lengthCode >> 24)), (lengthCode >> 24) + size);
  }
  return at;
}

function distanceSymbol(code: usize, distance: u32): u32 {
  const d = distance - 1;
  const index: u32 = d < 256 ? d : 256 + (d >> 7);
  return <u32>load<u8>(code + SYMBOLS + index);
}

function extraBits(symbol: u32): u32 {
  return symbol < 4 ? 0 : (symbol >> 1) - 1;
}

/**
 * Changes the distance of an unsplit match whose bits end at a bit address. Returns false if the new distance has
 * another symbol, whose code may have another length.
 */
export function changeDistance(end: u64, code: usize, former: u32, distance: u32): bool {
  const symbol = distanceSymbol(code, former);
  if (distanceSymbol(code, distance) != symbol) return false;
  const extra = <u64>extraBits(symbol);
  const first = end - extra;
  const byte = <usize>(first >> 3);
  const shift = first & 7;
  const mask = (((<u64>1) << extra) - 1) << shift;
  const value = <u64>(distance - <u32>load<u16>(code + BASES + ((<usize>symbol) << 1)));
  store<u64>(byte, (load<u64>(byte) & ~mask) | (value << shift));
  return true;
}

/** The symbol of a length from 3 to 258. */
function lengthSymbol(length: u32): u32 {
  if (length == MAX_MATCH) return 285;
  const n = length - 3;
  if (n < 8) return 257 + n;
  const power = 31 - clz<u32>(n);
  return 253 + (power << 2) + ((n >> (power - 2)) & 3);
}

/** Writes the header of a deflate block; returns the bit address after it. */
export function beginBlock(code: usize, to: usize): u64 {
  const header = (<u64>(code + HEADER)) << 3;
  return copyBits((<u64>to) << 3, header, header + load<u32>(code, HEADER_BITS));
}

/** Writes the end of a block, and an empty stored block that aligns the stream to a byte. */
export function endBlock(at: u64, code: usize): void {
  const symbol = load<u32>(code, END);
  at = put(at, symbol & 0xffffff, symbol >> 24);
  at = (put(at, 0, 3) + 7) & ~7;
  store<u32>(<usize>(at >> 3), 0xffff0000);
}

/** The length of the header in bits. */
export function headerBits(code: usize): u32 {
  return load<u32>(code, HEADER_BITS);
}

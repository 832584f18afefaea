// Writes or counts the symbols of a deflate stream in a given Huffman code.
import { copyBits, put } from './bits';

// The code of a stream, at an address that ../../compress/deflate-code.ts writes. An entry of the first three is
// the bits of a symbol with their number in the highest byte; a length's include its extra bits.
//
//   0               1024           2060             2180        2240         2752        2760   3272
//   +---------------+--------------+----------------+-----------+------------+-----------+------+
//   | literals u32  | lengths u32  | distance codes | base u16  | code of a  | bits u32, | head |
//   | 0 … 255       | 0 … 258      | 0 … 29 u32     | 0 … 29    | distance u8| end u32   |      |
//   +---------------+--------------+----------------+-----------+------------+-----------+------+
//
// The head is the beginning of a deflate block, with its length in bits; `end` is the end-of-block symbol.
const LENGTHS: usize = 1024;
const DISTANCES: usize = 2060;
const BASES: usize = 2180;
const CODES: usize = 2240;
const HEAD_BITS: usize = 2752;
const END: usize = 2756;
const HEAD: usize = 2760;

const LONGEST_CODE: u32 = 15;
/** The most bytes of one reference of the stream; longer ones are split. */
export const LONGEST: u32 = 258;
const LINE_FEED: u32 = 0x0a;

/** The address of the counts of symbols, 286 of literals and lengths and 30 of distances; 0 while they are written. */
let counts: usize = 0;

/** Counts symbols at an address from now on; 0 to write them again. */
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

export function literals(at: u64, code: usize, from: usize, to: usize): u64 {
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

export function lineFeed(at: u64, code: usize): u64 {
  if (counts != 0) {
    count(LINE_FEED);
    return at;
  }
  const symbol = load<u32>(code, LINE_FEED << 2);
  return put(at, symbol & 0xffffff, symbol >> 24);
}

/** A reference to `length` bytes, `distance` bytes before. */
export function reference(at: u64, code: usize, length: u32, distance: u32): u64 {
  const far = distanceSymbol(code, distance);
  const entry = load<u32>(code + DISTANCES + ((<usize>far) << 2));
  const own = entry >> 24;
  const size = own + extraBits(far);
  const rest = distance - <u32>load<u16>(code + BASES + ((<usize>far) << 1));
  const bits = <u64>((entry & 0xffffff) | (rest << own));
  while (length > 0) {
    // The remainder must be long enough for another reference.
    const part = length <= LONGEST ? length : length - LONGEST < 3 ? LONGEST - 3 : LONGEST;
    length -= part;
    if (counts != 0) {
      count(lengthSymbol(part));
      count(286 + far);
      continue;
    }
    const symbol = load<u32>(code + LENGTHS + ((<usize>part) << 2));
    at = put(at, (symbol & 0xffffff) | (bits << (symbol >> 24)), (symbol >> 24) + size);
  }
  return at;
}

function distanceSymbol(code: usize, distance: u32): u32 {
  const d = distance - 1;
  const index: u32 = d < 256 ? d : 256 + (d >> 7);
  return <u32>load<u8>(code + CODES + index);
}

function extraBits(far: u32): u32 {
  return far < 4 ? 0 : (far >> 1) - 1;
}

/**
 * Changes the distance of an unsplit reference whose bits end at a bit address. Returns false if the new distance has
 * another symbol: the bits after it would move.
 */
export function changeDistance(end: u64, code: usize, former: u32, distance: u32): bool {
  const far = distanceSymbol(code, former);
  if (distanceSymbol(code, distance) != far) return false;
  const extra = <u64>extraBits(far);
  const first = end - extra;
  const byte = <usize>(first >> 3);
  const shift = first & 7;
  const mask = (((<u64>1) << extra) - 1) << shift;
  const rest = <u64>(distance - <u32>load<u16>(code + BASES + ((<usize>far) << 1)));
  store<u64>(byte, (load<u64>(byte) & ~mask) | (rest << shift));
  return true;
}

/** The symbol of a length from 3 to 258. */
function lengthSymbol(length: u32): u32 {
  if (length == LONGEST) return 285;
  const n = length - 3;
  if (n < 8) return 257 + n;
  const power = 31 - clz<u32>(n);
  return 253 + (power << 2) + ((n >> (power - 2)) & 3);
}

/** Writes the head of a block of the stream. */
export function begin(code: usize, to: usize): u64 {
  const head = (<u64>(code + HEAD)) << 3;
  return copyBits((<u64>to) << 3, head, head + load<u32>(code, HEAD_BITS));
}

/** Writes the end of a block and an empty stored block, so that the next one begins at a byte. */
export function end(at: u64, code: usize): void {
  const symbol = load<u32>(code, END);
  at = put(at, symbol & 0xffffff, symbol >> 24);
  at = (put(at, 0, 3) + 7) & ~7;
  store<u32>(<usize>(at >> 3), 0xffff0000);
}

/** The bits of the head. */
export function headBits(code: usize): u32 {
  return load<u32>(code, HEAD_BITS);
}

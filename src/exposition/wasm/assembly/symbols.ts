// Writes or counts the symbols of a deflate stream in a given Huffman code.
import {
  CODE_BASES,
  CODE_COUNTS,
  CODE_DISTANCES,
  CODE_DISTANCE_SYMBOLS,
  CODE_END,
  CODE_HEADER,
  CODE_HEADER_BITS,
  CODE_LENGTHS,
  LITERAL_LENGTH_SYMBOLS,
  LONGEST_CODE,
  MAX_MATCH,
} from '../layout';

const LINE_FEED: u32 = 0x0a;

/** The address of the counts of symbols; 0 if symbols are written. */
export function countsOf(code: usize): usize {
  return <usize>load<u32>(code, CODE_COUNTS);
}

function count(counts: usize, symbol: u32): void {
  const at = counts + ((<usize>symbol) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

export function writeLiterals(at: u64, code: usize, from: usize, to: usize): u64 {
  const counts = countsOf(code);
  if (counts != 0) {
    for (let byte = from; byte < to; byte++) count(counts, load<u8>(byte));
    return at;
  }
  let bits: u64 = 0;
  let used: u32 = 0;
  for (let byte = from; byte < to; byte++) {
    const symbol = load<u32>(code + ((<usize>load<u8>(byte)) << 2));
    bits |= (<u64>(symbol & 0xffffff)) << used;
    used += symbol >> 24;
    if (used <= <u32>(56 - LONGEST_CODE)) continue;
    at = put(at, bits, used);
    bits = used = 0;
  }
  return put(at, bits, used);
}

export function writeLineFeed(at: u64, code: usize): u64 {
  const counts = countsOf(code);
  if (counts != 0) {
    count(counts, LINE_FEED);
    return at;
  }
  const symbol = load<u32>(code, LINE_FEED << 2);
  return put(at, symbol & 0xffffff, symbol >> 24);
}

/** Writes a match: `length` bytes that also occur `distance` bytes earlier. */
export function writeMatch(at: u64, code: usize, length: u32, distance: u32): u64 {
  const symbol = distanceSymbol(code, distance);
  const entry = load<u32>(code + CODE_DISTANCES + ((<usize>symbol) << 2));
  const codeBits = entry >> 24;
  const size = codeBits + extraBits(symbol);
  const extra = distance - <u32>load<u16>(code + CODE_BASES + ((<usize>symbol) << 1));
  const bits = <u64>((entry & 0xffffff) | (extra << codeBits));
  const counts = countsOf(code);
  while (length > 0) {
    // The rest must be long enough for another match.
    const part: u32 =
      length <= <u32>MAX_MATCH ? length : length < <u32>MAX_MATCH + 3 ? MAX_MATCH - 3 : MAX_MATCH;
    length -= part;
    if (counts != 0) {
      count(counts, lengthSymbol(part));
      count(counts, LITERAL_LENGTH_SYMBOLS + symbol);
      continue;
    }
    const lengthCode = load<u32>(code + CODE_LENGTHS + ((<usize>part) << 2));
    at = put(at, (lengthCode & 0xffffff) | (bits << (lengthCode >> 24)), (lengthCode >> 24) + size);
  }
  return at;
}

function distanceSymbol(code: usize, distance: u32): u32 {
  const d = distance - 1;
  const index: u32 = d < 256 ? d : 256 + (d >> 7);
  return <u32>load<u8>(code + CODE_DISTANCE_SYMBOLS + index);
}

function extraBits(symbol: u32): u32 {
  return symbol < 4 ? 0 : (symbol >> 1) - 1;
}

/**
 * Changes the distance of a match that was written as one match. Its bits end at the bit address `end`. Returns false
 * if the new distance has another symbol, since that may have a longer or shorter code.
 */
export function changeDistance(end: u64, code: usize, former: u32, distance: u32): bool {
  const symbol = distanceSymbol(code, former);
  if (distanceSymbol(code, distance) != symbol) return false;
  const extra = <u64>extraBits(symbol);
  const first = end - extra;
  const byte = <usize>(first >> 3);
  const shift = first & 7;
  const mask = (((<u64>1) << extra) - 1) << shift;
  const value = <u64>(distance - <u32>load<u16>(code + CODE_BASES + ((<usize>symbol) << 1)));
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
  const header = (<u64>(code + CODE_HEADER)) << 3;
  return copyBits((<u64>to) << 3, header, header + load<u32>(code, CODE_HEADER_BITS));
}

/** Writes the end of a block, and an empty stored block that aligns the stream to a byte. Returns the address after. */
export function endBlock(at: u64, code: usize): usize {
  const symbol = load<u32>(code, CODE_END);
  at = put(at, symbol & 0xffffff, symbol >> 24);
  at = (put(at, 0, 3) + 7) & ~7;
  store<u32>(<usize>(at >> 3), 0xffff0000);
  return <usize>(at >> 3) + 4;
}

// Bits of a stream, lowest first. A bit address is a byte address times 8, plus the number of the bit in the byte.
// RFC 1951, 3.1.1.

/** For at most this many bits, copying without alignment is faster. */
const SHORT_BITS: u64 = 448;

/** Writes up to 56 bits at a bit address; returns the address after them. */
export function put(at: u64, bits: u64, count: u32): u64 {
  const byte = <usize>(at >> 3);
  const used = at & 7;
  store<u64>(byte, ((<u64>load<u8>(byte)) & ((1 << used) - 1)) | (bits << used));
  return at + count;
}

/** Copies the bits from `from` to `end` to the bit address `at`; returns the address after them. */
export function copyBits(at: u64, from: u64, end: u64): u64 {
  if (end - from <= SHORT_BITS) {
    for (; end - from > 56; from += 56) at = put(at, bitsAt(from, 56), 56);
    return put(at, bitsAt(from, end - from), <u32>(end - from));
  }
  // Align the destination to a byte, then copy whole words.
  const first = min<u64>(end - from, (8 - (at & 7)) & 7);
  at = put(at, bitsAt(from, first), <u32>first);
  from += first;
  const shift = from & 7;
  for (; end - from >= 64; from += 64, at += 64) {
    const source = <usize>(from >> 3);
    const low = load<u64>(source) >> shift;
    store<u64>(<usize>(at >> 3), low | (((<u64>load<u8>(source, 8)) << 1) << (63 - shift)));
  }
  while (from < end) {
    const size = min<u64>(48, end - from);
    at = put(at, bitsAt(from, size), <u32>size);
    from += size;
  }
  return at;
}

/** Up to 56 bits at a bit address. */
function bitsAt(at: u64, size: u64): u64 {
  return (load<u64>(<usize>(at >> 3)) >> (at & 7)) & (((<u64>1) << size) - 1);
}

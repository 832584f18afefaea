// Writes lines as a part of a deflate stream (RFC 1951), without making their text. Each line refers
// to the line a period before it; only what differs is written as literals.
import {
  STREAM_CHANGES,
  cellOf,
  countOf,
  labelsLength,
  labelsOf,
  nameLength,
  nameOf,
  opOf,
  entryAt,
  streamWritten,
} from './block';
import { shifted, updated, updatedByValue, withoutTail } from './crc';
import { writeValue } from './values';

// The record of a line beside its entry, 20 bytes:
//
//   0         4        8       12             16      20
//   +---------+--------+-------+--------------+-------+
//   | text's  | line's | bits  | value's bytes| bytes |
//   | crc u32 | crc u32| u32   | u8, text bits| u32   |
//   +---------+--------+-------+--------------+-------+
//
// `bytes` is the length of the line with its line feed, `bits` is what the line takes in the stream, the line feed before it included; 24 bits say how many
// of them come before the value, or 0 where they are too many for that. Each 32 lines are a group, of
// which CRC, bytes and bits are kept, each u32.
const RECORD: usize = 20;
const TEXT_BITS: u64 = 0xffffff;
const GROUP_BITS: u32 = 5;
const GROUP_LINES: u32 = 32;
const GROUP: usize = 12;
/** Up to so many changes of a group, its CRC is corrected for each of them; else it is made anew. */
const FEW: u32 = 6;

// The code of a stream, at an address that ../../deflate/deflate-code.ts writes. An entry of the first three is
// the bits of a symbol with their number in the highest byte; a length's include its extra bits.
//
//   0               1024           2060             2180        2240         2752        2760   3272        5320
//   +---------------+--------------+----------------+-----------+------------+-----------+------+-----------+---------+
//   | literals u32  | lengths u32  | distance codes | base u16  | code of a  | bits u32, | head | pairs u64 | whether |
//   | 0 … 255       | 0 … 258      | 0 … 29 u32     | 0 … 29    | distance u8| end u32   |      | 0 … 255   | there   |
//   +---------------+--------------+----------------+-----------+------------+-----------+------+-----------+---------+
//
// The head is what a block of the stream begins with, of so many bits; the end is the symbol that ends it.
// A pair is two of the characters from `-` to `9`, by their lowest four bits, the first one's lowest:
// the bits of both, with their number in the highest byte. Lowest bits of 12 are no character, and no bits.
// Pairs are used if no two of them take more than 56 bits.
const LENGTHS: usize = 1024;
const DISTANCES: usize = 2060;
const BASES: usize = 2180;
const CODES: usize = 2240;
const HEAD_BITS: usize = 2752;
const END: usize = 2756;
const HEAD: usize = 2760;
const PAIRS: usize = 3272;
/** Whether no two pairs take more than 56 bits. */
const HAS_PAIRS: usize = 5320;
/** In each byte the bit that none of the characters of a pair has, and each other one of a value or its neighbour. */
const UNPAIRED: u64 = 0x4040404040404040;
const SIZE: u64 = 0xff00000000000000;

/** A value is written here before it is encoded; 48 bytes. */
const VALUE: usize = 9936;
/** CRC and number of bytes of the lines that were written last. */
const RESULT: usize = 32;

/** The longest period, and how many lines are tried to find the best. */
const MAX_PERIOD: u32 = 64;
const LINES_TRIED: u32 = 12;

const LONGEST_CODE: u32 = 15;
/** Up to so many bits are copied without a start of their own. */
const SHORT_BITS: u64 = 448;
const SHORTEST: u32 = 3;
const LONGEST: u32 = 258;
const FARTHEST: u32 = 32_768;
const LINE_FEED: u32 = 0x0a;
const QUOTE: u32 = 0x22;

/** Where symbols are counted instead of written: 286 of literals and lengths, 30 of distances. */
let counts: usize = 0;

/** Writes up to 56 bits at a bit address: a byte address times 8. */
function put(at: u64, bits: u64, count: u32): u64 {
  const byte = <usize>(at >> 3);
  const used = at & 7;
  store<u64>(byte, ((<u64>load<u8>(byte)) & ((1 << used) - 1)) | (bits << used));
  return at + count;
}

function count(symbol: u32): void {
  const at = counts + ((<usize>symbol) << 2);
  store<u32>(at, load<u32>(at) + 1);
}

function literals(at: u64, code: usize, from: usize, to: usize): u64 {
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

/** Whether a value at VALUE has only characters of pairs. What is behind it is of a former one, or 0. */
function isPaired(): bool {
  const all = load<u64>(VALUE) | load<u64>(VALUE, 8) | load<u64>(VALUE, 16) | load<u64>(VALUE, 24);
  return (all & UNPAIRED) == 0;
}

/** The bits of a pair, with their number in the highest byte. */
function pairOf(code: usize, text: u64): u64 {
  return load<u64>(code + PAIRS + ((<usize>((text & 15) | ((text >> 4) & 0xf0))) << 3));
}

/** The first bits, and the others behind them. Both together are at most 56. */
function joined(first: u64, next: u64): u64 {
  return (first + (next & SIZE)) | ((next & ~SIZE) << (first >> 56));
}

/**
 * Writes the characters from `value` to `end`, which are all of pairs, and adds their CRC to that of the
 * record: eight of them at a time, of which those behind the end have no bits.
 */
function pairs(at: u64, code: usize, value: usize, end: usize): u64 {
  for (; value < end; value += 8) {
    const rest = end - value;
    const text = rest >= 8 ? load<u64>(value) : withoutTail(load<u64>(value), rest);
    const first = joined(pairOf(code, text), pairOf(code, text >> 16));
    const next = joined(pairOf(code, text >> 32), pairOf(code, text >> 48));
    const size = (first >> 56) + (next >> 56);
    if (size <= 56) {
      at = put(at, (first & ~SIZE) | ((next & ~SIZE) << (first >> 56)), <u32>size);
    } else {
      at = put(at, first & ~SIZE, <u32>(first >> 56));
      at = put(at, next & ~SIZE, <u32>(next >> 56));
    }
  }
  return at;
}

function lineFeed(at: u64, code: usize): u64 {
  if (counts != 0) {
    count(LINE_FEED);
    return at;
  }
  const symbol = load<u32>(code, LINE_FEED << 2);
  return put(at, symbol & 0xffffff, symbol >> 24);
}

/** A reference to `length` bytes, `distance` bytes before. */
function reference(at: u64, code: usize, length: u32, distance: u32): u64 {
  const d = distance - 1;
  const index: u32 = d < 256 ? d : 256 + (d >> 7);
  const far = <u32>load<u8>(code + CODES + index);
  const entry = load<u32>(code + DISTANCES + ((<usize>far) << 2));
  const own = entry >> 24;
  const size = own + (far < 4 ? 0 : (far >> 1) - 1);
  const rest = distance - <u32>load<u16>(code + BASES + ((<usize>far) << 1));
  const bits = <u64>((entry & 0xffffff) | (rest << own));
  while (length > 0) {
    // What is left must be long enough for another reference.
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

/** The symbol of a length from 3 to 258. */
function lengthSymbol(length: u32): u32 {
  if (length == LONGEST) return 285;
  const n = length - 3;
  if (n < 8) return 257 + n;
  const power = 31 - clz<u32>(n);
  return 253 + (power << 2) + ((n >> (power - 2)) & 3);
}

/** How many bytes at `a` and `b` are equal, at most `limit`. */
function common(a: usize, b: usize, limit: u32): u32 {
  let i: u32 = 0;
  for (; i + 8 <= limit; i += 8) {
    const differs = load<u64>(a + i) ^ load<u64>(b + i);
    if (differs != 0) return i + ((<u32>ctz<u64>(differs)) >> 3);
  }
  while (i < limit && load<u8>(a + i) == load<u8>(b + i)) i++;
  return i;
}

function quoteFrom(text: usize, from: u32, length: u32): u32 {
  while (from < length && load<u8>(text + from) != QUOTE) from++;
  return from;
}

/** True for digits, letters and bytes beyond ASCII. */
function isOfWord(byte: u32): bool {
  return byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 26 || byte >= 0x80;
}

function afterWord(text: usize, from: u32, length: u32): u32 {
  while (from < length && isOfWord(load<u8>(text + from))) from++;
  return from;
}

/**
 * A line feed and a name, where the other line has them too (`before` bytes, or 0 where they are
 * written already), and a text that refers to that of the other line, which begins `back` bytes before
 * this. Where they differ, both go on behind the word there, or at their next quote: the end of a
 * label's value.
 */
function textAfter(
  at: u64,
  code: usize,
  before: u32,
  name: usize,
  text: usize,
  length: u32,
  other: usize,
  otherLength: u32,
  back: u32,
): u64 {
  let i: u32 = 0;
  let j: u32 = 0;
  while (true) {
    const run = common(text + i, other + j, min(length - i, otherLength - j));
    const distance = back + i - j;
    let next = i + run;
    j += run;
    if (run + before >= SHORTEST && distance <= FARTHEST) {
      at = reference(at, code, run + before, distance);
      i = next;
    } else if (before != 0) {
      at = lineFeed(at, code);
      at = literals(at, code, name, name + before - 1);
    }
    before = 0;
    if (next < length) {
      next = afterWord(text, next, length);
      j = afterWord(other, j, otherLength);
      if (next < length && (j == otherLength || load<u8>(text + next) != load<u8>(other + j))) {
        j = quoteFrom(other, j, otherLength);
        next = j == otherLength ? length : quoteFrom(text, next, length);
      }
    }
    at = literals(at, code, text + i, text + next);
    i = next;
    if (i == length) return at;
  }
}

/** The constant part of a line, without a line feed at its end: a line without a value has one. */
function lengthOf(entry: usize): u32 {
  return nameLength(entry) + labelsLength(entry) - (cellOf(entry) == 0 ? 1 : 0);
}

function recordsOf(block: usize): usize {
  return <usize>load<u32>(block, 20);
}

function recordAt(block: usize, index: u32): usize {
  return recordsOf(block) + <usize>index * RECORD;
}

/**
 * Writes the constant part of a line, which refers to the one that is `lines` lines and `back` bytes
 * before it; the first of a block refers to none.
 */
function writeText(at: u64, code: usize, block: usize, index: u32, lines: u32, back: u32): u64 {
  const entry = entryAt(block, index);
  const name = nameOf(entry);
  const nameBytes = nameLength(entry);
  const labels = labelsOf(entry);
  const bytes = lengthOf(entry) - nameBytes;
  if (lines == 0) {
    at = literals(at, code, name, name + nameBytes);
    return literals(at, code, labels, labels + bytes);
  }
  const other = entryAt(block, index - lines);
  const otherName = nameLength(other);
  const otherBytes = lengthOf(other) - otherName;
  let before = nameBytes + 1;
  if (load<u32>(entry) != load<u32>(other)) {
    at = lineFeed(at, code);
    at = literals(at, code, name, name + nameBytes);
    before = 0;
    back += nameBytes - otherName;
  }
  return textAfter(at, code, before, name, labels, bytes, labelsOf(other), otherBytes, back);
}

/** How many lines before it the line refers to: a period, or one where there are not so many. */
function linesBack(index: u32, period: u32): u32 {
  return index >= period ? period : min<u32>(index, 1);
}

/** Writes the text of a line's value to VALUE; returns its end. What is encoded first gives it time. */
function writeLineValue(entry: usize): usize {
  const cell = cellOf(entry);
  return cell == 0 ? VALUE : writeValue(load<u64>(cell), opOf(entry), VALUE);
}

/** Writes the value at VALUE of a line whose text takes the bits from `start` up to `at`. */
function writeRest(start: u64, at: u64, code: usize, record: usize, end: usize): u64 {
  const textBits = at - start;
  const bytes = <u32>(end - VALUE);
  if (counts == 0 && load<u32>(code, HAS_PAIRS) != 0 && isPaired()) {
    at = pairs(at, code, VALUE, end);
    store<u32>(record, updatedByValue(load<u32>(record), VALUE, bytes), 4);
  } else {
    at = literals(at, code, VALUE, end);
    store<u8>(end, LINE_FEED);
    store<u32>(record, updated(load<u32>(record), VALUE, end + 1), 4);
    memory.fill(VALUE, 0, 32);
  }
  store<u32>(record, <u32>(at - start), 8);
  const known = textBits > TEXT_BITS ? 0 : <u32>textBits;
  const former = <u32>load<u8>(record, 12);
  store<u32>(record, bytes | (known << 8), 12);
  store<u32>(record, load<u32>(record, 16) + bytes - former, 16);
  return at;
}

/** Fills the records of all lines; these are written at the next `deflateAll`. */
export function prepareRecords(block: usize): void {
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryAt(block, i);
    const name = nameOf(entry);
    const named = updated(0, name, name + nameLength(entry));
    const labels = labelsOf(entry);
    const length = lengthOf(entry);
    const record = recordAt(block, i);
    store<u32>(record, updated(named, labels, labels + length - nameLength(entry)));
    store<u32>(record, 0, 12);
    store<u32>(record, length + 1, 16);
  }
}

/** The period with which some of the lines take the fewest bits; they are written to `to`. */
export function bestPeriod(block: usize, code: usize, to: usize): u32 {
  let best: u32 = 1;
  let fewest: u64 = u64.MAX_VALUE;
  const count = countOf(block);
  const longest = min(MAX_PERIOD, count / 2);
  const step = max<u32>(1, (count - longest) / LINES_TRIED);
  for (let period: u32 = 1; period <= longest; period++) {
    let bits: u64 = 0;
    for (let i = longest; i < count; i += step) {
      const start = (<u64>to) << 3;
      // About as far as it will be, and never less than the other line is long.
      const length = max(lengthOf(entryAt(block, i)), lengthOf(entryAt(block, i - period))) + 8;
      bits += writeText(start, code, block, i, period, period * length) - start;
    }
    if (bits >= fewest) continue;
    fewest = bits;
    best = period;
  }
  return best;
}

/** Counts the symbols of all lines: 316 numbers of 32 bits at `to`. */
export function countSymbols(block: usize, code: usize, to: usize): void {
  counts = to;
  deflateAll(block, code, to);
  counts = 0;
}

/** The head of a block of the stream. */
function begin(code: usize, to: usize): u64 {
  const head = (<u64>(code + HEAD)) << 3;
  return copyBits((<u64>to) << 3, head, head + load<u32>(code, HEAD_BITS));
}

/** The end of a block, and an empty one that is stored: what follows begins at a byte. */
function end(at: u64, code: usize): void {
  const symbol = load<u32>(code, END);
  at = put(at, symbol & 0xffffff, symbol >> 24);
  at = (put(at, 0, 3) + 7) & ~7;
  store<u32>(<usize>(at >> 3), 0xffff0000);
}

/** Writes all lines to `to`, as a block of the stream; returns the bits of the lines. */
export function deflateAll(block: usize, code: usize, to: usize): u32 {
  const start = counts == 0 ? begin(code, to) : (<u64>to) << 3;
  const count = countOf(block);
  const period = load<u32>(block, 24);
  let at = start;
  // Offsets of the line, and of the one that it refers to.
  let offset: u32 = 0;
  let former: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryAt(block, i);
    const record = recordAt(block, i);
    const back = linesBack(i, period);
    former = formerOf(former, offset, block, i, period);
    const value = writeLineValue(entry);
    const text = writeText(at, code, block, i, back, offset - former);
    at = writeRest(at, text, code, record, value);
    offset += load<u32>(record, 16);
  }
  if (count > 0) at = lineFeed(at, code);
  if (counts == 0) {
    for (let group: u32 = 0; group << GROUP_BITS < count; group++) sumGroup(block, group);
    sum(block);
    streamWritten(block);
    end(at, code);
  }
  return <u32>(at - start);
}

/** The offset of the line that line `i` refers to; `former` is that for the line before it. */
function formerOf(former: u32, offset: u32, block: usize, i: u32, period: u32): u32 {
  if (i < period) return i == 0 ? 0 : offset - bytesAt(block, i - 1);
  if (i == period) return 0;
  return former + bytesAt(block, i - period - 1);
}

function bytesAt(block: usize, index: u32): u32 {
  return load<u32>(recordAt(block, index), 16);
}

/**
 * The same for changed lines; the bits of the others are copied from the block at `from`. CRC and
 * number of bytes are in RESULT.
 */
export function deflateChanged(block: usize, code: usize, from: usize, to: usize): u32 {
  const start = begin(code, to);
  const count = countOf(block);
  const period = load<u32>(block, 24);
  let at = start;
  // What is not copied yet, and where the next line is.
  let span = ((<u64>from) << 3) + load<u32>(code, HEAD_BITS);
  let read = span;
  // Lines up to this one refer over a value that has another length: farther, or less far.
  let movedEnd: u32 = 0;
  for (let first: u32 = 0; first < count; first += GROUP_LINES) {
    const group = groupAt(block, first >> GROUP_BITS);
    const changed = load<u32>(block + STREAM_CHANGES + ((<usize>(first >> GROUP_BITS)) << 2));
    if (changed == 0 && movedEnd <= first) {
      read += load<u32>(group, 8);
      continue;
    }
    const end = min(count, first + GROUP_LINES);
    let isSummed = <u32>popcnt<u32>(changed) <= FEW;
    for (let i = first; i < end; i++) {
      const record = recordAt(block, i);
      const bits = load<u32>(record, 8);
      const isMoved = i < movedEnd;
      if (!isMoved && ((changed >> (i - first)) & 1) == 0) {
        read += bits;
        continue;
      }
      const entry = entryAt(block, i);
      const sizes = load<u32>(record, 12);
      const crc = load<u32>(record, 4);
      const textBits = sizes >> 8;
      const value = writeLineValue(entry);
      let start: u64;
      if (!isMoved && textBits != 0) {
        at = copyBits(at, span, read + textBits);
        start = at - textBits;
      } else {
        start = copyBits(at, span, read);
        const back = linesBack(i, period);
        at = writeText(start, code, block, i, back, bytesBetween(block, i - back, i));
      }
      at = writeRest(start, at, code, record, value);
      read += bits;
      span = read;
      if (((load<u32>(record, 12) ^ sizes) & 0xff) != 0) {
        movedEnd = i + period + 1;
        isSummed = false;
      }
      if (isSummed) {
        const behind = bytesBetween(block, i + 1, end);
        store<u32>(group, load<u32>(group) ^ shifted(crc ^ load<u32>(record, 4), behind));
        store<u32>(group, load<u32>(group, 8) + load<u32>(record, 8) - bits, 8);
      }
    }
    if (!isSummed) sumGroup(block, first >> GROUP_BITS);
  }
  at = copyBits(at, span, read);
  if (count > 0) at = lineFeed(at, code);
  sum(block);
  streamWritten(block);
  end(at, code);
  return <u32>(at - start);
}

/** The bytes of the lines from one index on up to another. */
function bytesBetween(block: usize, index: u32, end: u32): u32 {
  let bytes: u32 = 0;
  for (let at = recordAt(block, index); index < end; index++, at += RECORD)
    bytes += load<u32>(at, 16);
  return bytes;
}

/** Copies the bits from one bit address on up to another. */
function copyBits(at: u64, from: u64, end: u64): u64 {
  if (end - from <= SHORT_BITS) {
    for (; end - from > 56; from += 56) at = put(at, bitsAt(from, 56), 56);
    return put(at, bitsAt(from, end - from), <u32>(end - from));
  }
  // Up to the start of a byte first; from there on whole words are written.
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

function groupAt(block: usize, group: u32): usize {
  return <usize>load<u32>(block, 28) + <usize>group * GROUP;
}

/** CRC, bytes and bits of the lines of a group. */
function sumGroup(block: usize, group: u32): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  let bits: u32 = 0;
  const end = min(countOf(block), (group + 1) << GROUP_BITS);
  for (let i = group << GROUP_BITS; i < end; i++) {
    const record = recordAt(block, i);
    const length = load<u32>(record, 16);
    crc = shifted(crc, length) ^ load<u32>(record, 4);
    bytes += length;
    bits += load<u32>(record, 8);
  }
  const at = groupAt(block, group);
  store<u32>(at, crc);
  store<u32>(at, bytes, 4);
  store<u32>(at, bits, 8);
}

/** CRC and number of bytes of all lines, for whoever called. */
function sum(block: usize): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  const count = countOf(block);
  let at = groupAt(block, 0);
  for (let i: u32 = 0; i < count; i += GROUP_LINES, at += GROUP) {
    crc = shifted(crc, load<u32>(at, 4)) ^ load<u32>(at);
    bytes += load<u32>(at, 4);
  }
  store<u32>(RESULT, crc);
  store<u32>(RESULT, bytes, 4);
}

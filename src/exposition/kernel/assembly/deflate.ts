// Writes lines as a part of a deflate stream (RFC 1951), without making their text. Each line refers
// to the line a period before it; only what differs is written as literals.
import {
  STREAM_CHANGES,
  cellOf,
  countOf,
  hasChanged,
  labelsLength,
  labelsOf,
  nameLength,
  nameOf,
  numberAt,
  opOf,
  entryAt,
  streamWritten,
} from './block';
import { shifted, updated } from './crc';
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
// which CRC u32 and bytes u32 are kept.
const RECORD: usize = 20;
const TEXT_BITS: u64 = 0xffffff;
const GROUP_BITS: u32 = 5;

// The code of a stream, at an address that ../../deflate/deflate-code.ts writes. An entry of the first three is
// the bits of a symbol with their number in the highest byte; a length's include its extra bits.
//
//   0               1024           2060             2180        2240         2752        2760
//   +---------------+--------------+----------------+-----------+------------+-----------+------+
//   | literals u32  | lengths u32  | distance codes | base u16  | code of a  | bits u32, | head |
//   | 0 … 255       | 0 … 258      | 0 … 29 u32     | 0 … 29    | distance u8| end u32   |      |
//   +---------------+--------------+----------------+-----------+------------+-----------+------+
//
// The head is what a block of the stream begins with, of so many bits; the end is the symbol that ends it.
const LENGTHS: usize = 1024;
const DISTANCES: usize = 2060;
const BASES: usize = 2180;
const CODES: usize = 2240;
const HEAD_BITS: usize = 2752;
const END: usize = 2756;
const HEAD: usize = 2760;

/** A value is written here before it is encoded; 32 bytes. */
const VALUE: usize = 10_944;
/** CRC and number of bytes of the lines that were written last. */
const RESULT: usize = 32;
const NONE: u32 = 0xffffffff;

/** The longest period, and how many lines are tried to find the best. */
const MAX_PERIOD: u32 = 64;
const LINES_TRIED: u32 = 12;

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
  let byte = from;
  // Three at a time: their bits, at most 45, fit in one write.
  for (; byte + 3 <= to; byte += 3) {
    const a = load<u32>(code + ((<usize>load<u8>(byte)) << 2));
    const b = load<u32>(code + ((<usize>load<u8>(byte, 1)) << 2));
    const c = load<u32>(code + ((<usize>load<u8>(byte, 2)) << 2));
    const ab = (a >> 24) + (b >> 24);
    const bits = (a & 0xffffff) | ((<u64>(b & 0xffffff)) << (a >> 24));
    at = put(at, bits | ((<u64>(c & 0xffffff)) << ab), ab + (c >> 24));
  }
  for (; byte < to; byte++) {
    const symbol = load<u32>(code + ((<usize>load<u8>(byte)) << 2));
    at = put(at, symbol & 0xffffff, symbol >> 24);
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
  return recordsOf(block) + <usize>numberAt(block, index) * RECORD;
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

/** Writes the value of a line whose text takes the bits from `start` up to `at`. */
function writeRest(start: u64, at: u64, code: usize, entry: usize, record: usize): u64 {
  const cell = cellOf(entry);
  const textBits = at - start;
  let end = VALUE;
  if (cell != 0) {
    end = writeValue(load<u64>(cell), opOf(entry), VALUE);
    at = literals(at, code, VALUE, end);
  }
  store<u8>(end, LINE_FEED);
  store<u32>(record, updated(load<u32>(record), VALUE, end + 1), 4);
  store<u32>(record, <u32>(at - start), 8);
  const known = textBits > TEXT_BITS ? 0 : <u32>textBits;
  const former = <u32>load<u8>(record, 12);
  store<u32>(record, (<u32>(end - VALUE)) | (known << 8), 12);
  store<u32>(record, load<u32>(record, 16) + <u32>(end - VALUE) - former, 16);
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
    at = writeRest(at, writeText(at, code, block, i, back, offset - former), code, entry, record);
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
  let span = ((<u64>from) << 3) + load<u32>(code, HEAD_BITS);
  let read = span;
  let offset: u32 = 0;
  let former: u32 = 0;
  // The last line whose value has another length: lines that refer over it refer farther or less far.
  let resized: i32 = i32.MIN_VALUE;
  // The group whose sum is to be made anew.
  let group: u32 = NONE;
  for (let i: u32 = 0; i < count; i++) {
    const record = recordAt(block, i);
    const bits = load<u32>(record, 8);
    const sizes = load<u32>(record, 12);
    const back = linesBack(i, period);
    const isMoved = resized >= <i32>(i - back);
    const begin = offset;
    former = formerOf(former, begin, block, i, period);
    offset += load<u32>(record, 16);
    if (!isMoved && !hasChanged(block, STREAM_CHANGES, i)) {
      read += bits;
      continue;
    }
    if (group != i >> GROUP_BITS) {
      if (group != NONE) sumGroup(block, group);
      group = i >> GROUP_BITS;
    }
    const entry = entryAt(block, i);
    const textBits = sizes >> 8;
    if (!isMoved && textBits != 0) {
      at = copyBits(at, span, read + textBits);
      at = writeRest(at - textBits, at, code, entry, record);
    } else {
      at = copyBits(at, span, read);
      at = writeRest(at, writeText(at, code, block, i, back, begin - former), code, entry, record);
    }
    const size = load<u32>(record, 12);
    if (((size ^ sizes) & 0xff) != 0) {
      resized = <i32>i;
      offset += (size & 0xff) - (sizes & 0xff);
    }
    read += bits;
    span = read;
  }
  at = copyBits(at, span, read);
  if (count > 0) at = lineFeed(at, code);
  if (group != NONE) sumGroup(block, group);
  sum(block);
  streamWritten(block);
  end(at, code);
  return <u32>(at - start);
}

/** Copies the bits from one bit address on up to another. */
function copyBits(at: u64, from: u64, end: u64): u64 {
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

/** CRC and number of bytes of the lines of a group. */
function sumGroup(block: usize, group: u32): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  const end = min(countOf(block), (group + 1) << GROUP_BITS);
  for (let i = group << GROUP_BITS; i < end; i++) {
    const record = recordAt(block, i);
    const length = load<u32>(record, 16);
    crc = shifted(crc, length) ^ load<u32>(record, 4);
    bytes += length;
  }
  const at = <usize>load<u32>(block, 28) + ((<usize>group) << 3);
  store<u32>(at, crc);
  store<u32>(at, bytes, 4);
}

/** CRC and number of bytes of all lines, for whoever called. */
function sum(block: usize): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  const count = countOf(block);
  let at = <usize>load<u32>(block, 28);
  for (let i: u32 = 0; i < count; i += 1 << GROUP_BITS, at += 8) {
    crc = shifted(crc, load<u32>(at, 4)) ^ load<u32>(at);
    bytes += load<u32>(at, 4);
  }
  store<u32>(RESULT, crc);
  store<u32>(RESULT, bytes, 4);
}

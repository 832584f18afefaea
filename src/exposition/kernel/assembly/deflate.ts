// Writes lines as a part of a deflate stream (RFC 1951), without making their text. Each line refers
// to the line a period before it; only what differs is written as literals.
import { LINE } from './lines';
import { shifted, updated } from './crc';
import { writeValue } from './values';

// The record of a line beside its entry in the line table, 24 bytes:
//
//   0           8        12       16      20             24
//   +-----------+--------+--------+-------+--------------+
//   | last bits | text's | line's | bits  | value's bytes|
//   | u64       | crc u32| crc u32| u32   | u8, text bits|
//   +-----------+--------+--------+-------+--------------+
//
// `bits` is what the line takes in the stream, the line feed before it included; 24 bits say how many
// of them come before the value, or 0 where they are too many for that.
const RECORD: usize = 24;
const TEXT_BITS: u64 = 0xffffff;

// The code of a stream, at an address that ../../deflate/deflate-code.ts writes. An entry of the first three is
// the bits of a symbol with their number in the highest byte; a length's include its extra bits.
//
//   0               1024           2060             2180        2240         2752
//   +---------------+--------------+----------------+-----------+------------+
//   | literals u32  | lengths u32  | distance codes | base u16  | code of a  |
//   | 0 … 255       | 0 … 258      | 0 … 29 u32     | 0 … 29    | distance u8|
//   +---------------+--------------+----------------+-----------+------------+
const LENGTHS: usize = 1024;
const DISTANCES: usize = 2060;
const BASES: usize = 2180;
const CODES: usize = 2240;

/** A value is written here before it is encoded; 32 bytes. */
const VALUE: usize = 10_944;
/** CRC and number of bytes of the lines that were written last. */
const RESULT: usize = 32;

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
 * A line feed and a text that refers to that of another line, which begins `back` bytes before this.
 * Where they differ, both go on behind the word there, or at their next quote: the end of a label's
 * value.
 */
function textAfter(
  at: u64,
  code: usize,
  text: usize,
  length: u32,
  other: usize,
  otherLength: u32,
  back: u32,
): u64 {
  let i: u32 = 0;
  let j: u32 = 0;
  let feed: u32 = 1;
  while (true) {
    const run = common(text + i, other + j, min(length - i, otherLength - j));
    const distance = back + i - j;
    let next = i + run;
    j += run;
    if (run + feed >= SHORTEST && distance <= FARTHEST) {
      at = reference(at, code, run + feed, distance);
      i = next;
    } else if (feed != 0) at = lineFeed(at, code);
    feed = 0;
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
function lengthOf(line: usize): u32 {
  return load<u32>(line, 4) - (load<u32>(line, 8) == 0 ? 1 : 0);
}

/** The bytes of a line with its value and its line feed. */
function bytesOf(line: usize, record: usize): u32 {
  return lengthOf(line) + <u32>load<u8>(record, 20) + 1;
}

/**
 * Writes the constant part of a line, which refers to the one that is `lines` lines and `back` bytes
 * before it; the first of a block refers to none.
 */
function writeText(at: u64, code: usize, line: usize, lines: u32, back: u32): u64 {
  const text = <usize>load<u32>(line);
  const length = lengthOf(line);
  if (lines == 0) return literals(at, code, text, text + length);
  const other = line - <usize>lines * LINE;
  return textAfter(at, code, text, length, <usize>load<u32>(other), lengthOf(other), back);
}

/** How many lines before it the line refers to: a period, or one where there are not so many. */
function linesBack(index: u32, period: u32): u32 {
  return index >= period ? period : min<u32>(index, 1);
}

/** Writes the value of a line whose text takes the bits from `start` up to `at`. */
function writeRest(start: u64, at: u64, code: usize, line: usize, record: usize): u64 {
  const value = <usize>load<u32>(line, 8);
  const textBits = at - start;
  let end = VALUE;
  if (value != 0) {
    const bits = load<u64>(value);
    store<u64>(record, bits);
    end = writeValue(bits, load<u32>(line, 12), VALUE);
    at = literals(at, code, VALUE, end);
  }
  store<u8>(end, LINE_FEED);
  store<u32>(record, updated(load<u32>(record, 8), VALUE, end + 1), 12);
  store<u32>(record, <u32>(at - start), 16);
  const known = textBits > TEXT_BITS ? 0 : <u32>textBits;
  store<u32>(record, (<u32>(end - VALUE)) | (known << 8), 20);
  return at;
}

/** Fills a record; the line is written at the next `deflateAll`. */
export function prepareRecord(line: usize, record: usize): void {
  const text = <usize>load<u32>(line);
  store<u32>(record, updated(0, text, text + lengthOf(line)), 8);
}

/** The period with which some of the lines take the fewest bits; they are written to `to`. */
export function bestPeriod(table: usize, lines: u32, code: usize, to: usize): u32 {
  let best: u32 = 1;
  let fewest: u64 = u64.MAX_VALUE;
  const longest = min(MAX_PERIOD, lines / 2);
  const step = max<u32>(1, (lines - longest) / LINES_TRIED);
  for (let period: u32 = 1; period <= longest; period++) {
    let bits: u64 = 0;
    for (let i = longest; i < lines; i += step) {
      const line = table + <usize>i * LINE;
      const start = (<u64>to) << 3;
      // About as far as it will be, and never less than the other line is long.
      const length = max(lengthOf(line), lengthOf(line - <usize>period * LINE)) + 8;
      bits += writeText(start, code, line, period, period * length) - start;
    }
    if (bits >= fewest) continue;
    fewest = bits;
    best = period;
  }
  return best;
}

/** True if any line of a table has a value that differs from the one written last. */
export function isStale(table: usize, records: usize, lines: u32): bool {
  for (let i: u32 = 0; i < lines; i++) {
    const value = <usize>load<u32>(table + <usize>i * LINE, 8);
    if (value != 0 && load<u64>(value) != load<u64>(records + <usize>i * RECORD)) return true;
  }
  return false;
}

/** Counts the symbols of all lines of a table: 316 numbers of 32 bits at `to`. */
export function countSymbols(
  table: usize,
  records: usize,
  lines: u32,
  period: u32,
  code: usize,
  to: usize,
): void {
  counts = to;
  deflateAll(table, records, lines, period, code, to);
  counts = 0;
}

/** Writes all lines of a table to `to`; returns the bits written, without those of their end. */
export function deflateAll(
  table: usize,
  records: usize,
  lines: u32,
  period: u32,
  code: usize,
  to: usize,
): u32 {
  const start = (<u64>to) << 3;
  let at = start;
  // Offsets of the line, and of the one that it refers to.
  let offset: u32 = 0;
  let former: u32 = 0;
  for (let i: u32 = 0; i < lines; i++) {
    const line = table + <usize>i * LINE;
    const record = records + <usize>i * RECORD;
    const back = linesBack(i, period);
    former = formerOf(former, offset, line, record, i, period);
    at = writeRest(at, writeText(at, code, line, back, offset - former), code, line, record);
    offset += bytesOf(line, record);
  }
  if (lines > 0) at = lineFeed(at, code);
  sum(table, records, lines);
  return <u32>(at - start);
}

/** The offset of the line that line `i` refers to; `former` is that for the line before it. */
function formerOf(former: u32, offset: u32, line: usize, record: usize, i: u32, period: u32): u32 {
  if (i < period) return i == 0 ? 0 : offset - bytesOf(line - LINE, record - RECORD);
  if (i == period) return 0;
  const lines = <usize>(period + 1);
  return former + bytesOf(line - lines * LINE, record - lines * RECORD);
}

/**
 * Rewrites changed lines and copies the bits of the others from those at `from`; RESULT holds their
 * CRC and number of bytes.
 */
export function deflateChanged(
  table: usize,
  records: usize,
  lines: u32,
  period: u32,
  code: usize,
  from: usize,
  to: usize,
): u32 {
  const start = (<u64>to) << 3;
  let at = start;
  let span = (<u64>from) << 3;
  let read = span;
  let offset: u32 = 0;
  let former: u32 = 0;
  // The last line whose value has another length: lines that refer over it refer farther or less far.
  let resized: i32 = i32.MIN_VALUE;
  let crc = load<u32>(RESULT);
  const bytes = load<u32>(RESULT, 4);
  for (let i: u32 = 0; i < lines; i++) {
    const line = table + <usize>i * LINE;
    const record = records + <usize>i * RECORD;
    const value = <usize>load<u32>(line, 8);
    const bits = load<u32>(record, 16);
    const sizes = load<u32>(record, 20);
    const back = linesBack(i, period);
    const isMoved = resized >= <i32>(i - back);
    const begin = offset;
    former = formerOf(former, begin, line, record, i, period);
    offset += lengthOf(line) + (sizes & 0xff) + 1;
    if (!isMoved && (value == 0 || load<u64>(value) == load<u64>(record))) {
      read += bits;
      continue;
    }
    const textBits = sizes >> 8;
    const lineCrc = load<u32>(record, 12);
    if (!isMoved && textBits != 0) {
      at = copyBits(at, span, read + textBits);
      at = writeRest(at - textBits, at, code, line, record);
    } else {
      at = copyBits(at, span, read);
      at = writeRest(at, writeText(at, code, line, back, begin - former), code, line, record);
    }
    const size = load<u32>(record, 20);
    if (((size ^ sizes) & 0xff) != 0) {
      resized = <i32>i;
      offset += (size & 0xff) - (sizes & 0xff);
    } else if (resized < 0) crc ^= shifted(lineCrc ^ load<u32>(record, 12), bytes - offset);
    read += bits;
    span = read;
  }
  at = copyBits(at, span, read);
  if (lines > 0) at = lineFeed(at, code);
  if (resized >= 0) sum(table, records, lines);
  else store<u32>(RESULT, crc);
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

/** CRC and number of bytes of all lines, for whoever called. */
function sum(table: usize, records: usize, lines: u32): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  for (let i: u32 = 0; i < lines; i++) {
    const record = records + <usize>i * RECORD;
    const length = bytesOf(table + <usize>i * LINE, record);
    crc = shifted(crc, length) ^ load<u32>(record, 12);
    bytes += length;
  }
  store<u32>(RESULT, crc);
  store<u32>(RESULT, bytes, 4);
}

// Writes lines as a part of a deflate stream (RFC 1951), without making their text. Each line refers
// to the line a period before it; only what differs is written as literals.
import {
  MAX_LINES,
  PREFETCHED,
  STREAM_CHANGES,
  cellOf,
  countOf,
  labelsLength,
  labelsOf,
  nameLength,
  nameOf,
  opOf,
  prefetch,
  entryAt,
  streamWritten,
} from './block';
import { copyBits } from './bits';
import { shifted, updated, updatedByValue } from './crc';
import { FARTHEST, UNKNOWN, noteReferences, textAfter } from './likeness';
import * as layout from '../layout';
import {
  areCounted,
  begin,
  changeDistance,
  countAt,
  end,
  hasPairs,
  headBits,
  isPaired,
  lineFeed,
  literals,
  pairs,
} from './symbols';
import { writeValue } from './values';

// What is kept of each line: its record, 24 bytes, and its sum, 12 bytes. The sums are side by side, since those
// of the lines around a changed one are read as well.
//
//   0         4              8            24        0        4       8      12
//   +---------+--------------+------------+         +--------+-------+------+
//   | text's  | value's bytes| references |         | line's | bytes | bits |
//   | crc u32 | u8, text bits| 4 of u32   |         | crc u32| u32   | u32  |
//   +---------+--------------+------------+         +--------+-------+------+
//
// `bytes` is the length of the line with its line feed. `bits` is what the line takes in the stream, with
// the line feed before it; 24 bits of the record say how many of them come before the value, or 0 where they are
// too many for that. References are as ./likeness notes them. Each 32 lines are a group, which has a sum as well.
const VALUE: usize = layout.VALUE_AT;
const NOTES: usize = layout.NOTES_AT;
const RESULT: usize = layout.RESULT_AT;
const RESIZED: usize = layout.RESIZED_AT;
const RECORD: usize = layout.RECORD_BYTES;
const REFERENCES: usize = 8;
const SUM: usize = layout.SUM_BYTES;
const CACHE_LINE: usize = 64;
const TEXT_BITS: u64 = 0xffffff;
const GROUP_BITS: u32 = layout.GROUP_BITS;
const GROUP_LINES: u32 = 1 << GROUP_BITS;
/** Up to so many changes of a group, its CRC is corrected for each of them; else it is made anew. */
const FEW: u32 = 6;

const LINE_FEED: u32 = 0x0a;

/** The longest period, and how many lines are tried to find the best. */
const MAX_PERIOD: u32 = 64;
const LINES_TRIED: u32 = 12;
/** No more periods are tried after so many bytes: of long lines, fewer. */
const MAX_BYTES_TRIED: u32 = 131_072;

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

/** The sum of a line. */
function sumAt(block: usize, index: u32): usize {
  return <usize>load<u32>(block, 36) + <usize>index * SUM;
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

/** The same, and notes its references in its record. */
function writeNotedText(
  at: u64,
  code: usize,
  block: usize,
  index: u32,
  lines: u32,
  back: u32,
): u64 {
  noteReferences(at);
  at = writeText(at, code, block, index, lines, back);
  v128.store(recordAt(block, index) + REFERENCES, v128.load(NOTES));
  return at;
}

/**
 * Has the references of a line whose bits begin at `start` refer farther, or less far; false if its text
 * must be written anew.
 */
function refersFarther(start: u64, code: usize, record: usize, by: i32): bool {
  for (let at = record + REFERENCES; at < record + RECORD; at += 4) {
    const noted = load<u32>(at);
    if (noted == UNKNOWN) return false;
    if (noted == 0) return true;
    const former = noted >> 16;
    const distance = former + by;
    // A stream cannot refer to nothing, nor beyond its window.
    if (distance - 1 >= <u32>FARTHEST) return false;
    if (!changeDistance(start + (noted & 0xffff), code, former, distance)) return false;
    store<u32>(at, (noted & 0xffff) | (distance << 16));
  }
  return true;
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

/** All characters at VALUE: what is behind the value is of a former one, or 0. */
function valueCharacters(): u64 {
  return load<u64>(VALUE) | load<u64>(VALUE, 8) | load<u64>(VALUE, 16) | load<u64>(VALUE, 24);
}

/** Writes the value at VALUE of a line whose text takes the bits from `start` up to `at`. */
function writeRest(start: u64, at: u64, code: usize, record: usize, sum: usize, end: usize): u64 {
  const textBits = at - start;
  const bytes = <u32>(end - VALUE);
  if (hasPairs(code) && isPaired(valueCharacters())) {
    at = pairs(at, code, VALUE, end);
    store<u32>(sum, updatedByValue(load<u32>(record), VALUE, bytes));
  } else {
    at = literals(at, code, VALUE, end);
    store<u8>(end, LINE_FEED);
    store<u32>(sum, updated(load<u32>(record), VALUE, end + 1));
    memory.fill(VALUE, 0, 32);
  }
  const known = textBits > TEXT_BITS ? 0 : <u32>textBits;
  const former = <u32>load<u8>(record, 4);
  store<u32>(record, bytes | (known << 8), 4);
  store<u32>(sum, load<u32>(sum, 4) + bytes - former, 4);
  store<u32>(sum, <u32>(at - start), 8);
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
    store<u32>(record, 0, 4);
    store<u32>(sumAt(block, i), length + 1, 4);
  }
}

/** The period with which some of the lines take the fewest bits; they are written to `to`. */
export function bestPeriod(block: usize, code: usize, to: usize): u32 {
  let best: u32 = 1;
  let fewest: u64 = u64.MAX_VALUE;
  const count = countOf(block);
  const longest = min(MAX_PERIOD, count / 2);
  const step = max<u32>(1, (count - longest) / LINES_TRIED);
  let tried: u32 = 0;
  for (let period: u32 = 1; period <= longest && tried < MAX_BYTES_TRIED; period++) {
    let bits: u64 = 0;
    for (let i = longest; i < count; i += step) {
      const start = (<u64>to) << 3;
      // About as far as it will be, and never less than the other line is long.
      const length = max(lengthOf(entryAt(block, i)), lengthOf(entryAt(block, i - period))) + 8;
      bits += writeText(start, code, block, i, period, period * length) - start;
      tried += length;
    }
    if (bits >= fewest) continue;
    fewest = bits;
    best = period;
  }
  return best;
}

/** Counts the symbols of all lines: 316 numbers of 32 bits at `to`. */
export function countSymbols(block: usize, code: usize, to: usize): void {
  countAt(to);
  deflateAll(block, code, to);
  countAt(0);
}

/** Writes all lines to `to`, as a block of the stream; returns the bits of the lines. */
export function deflateAll(block: usize, code: usize, to: usize): u32 {
  const start = !areCounted() ? begin(code, to) : (<u64>to) << 3;
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
    const text = writeNotedText(at, code, block, i, back, offset - former);
    const sum = sumAt(block, i);
    at = writeRest(at, text, code, record, sum, value);
    offset += load<u32>(sum, 4);
  }
  if (count > 0) at = lineFeed(at, code);
  if (!areCounted()) {
    for (let group: u32 = 0; group << GROUP_BITS < count; group++) sumGroup(block, group);
    sumAll(block);
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
  return load<u32>(sumAt(block, index), 4);
}

/**
 * The same for changed lines; the bits of the others are copied from the block at `from`. CRC and
 * number of bytes are in RESULT.
 */
export function deflateChanged(block: usize, code: usize, from: usize, to: usize): u32 {
  prefetch(block, STREAM_CHANGES, recordsOf(block), RECORD);
  prefetchSums(block);
  const start = begin(code, to);
  const count = countOf(block);
  const period = load<u32>(block, 24);
  let at = start;
  // What is not copied yet, and where the next line is.
  let span = ((<u64>from) << 3) + headBits(code);
  let read = span;
  // Lines up to this one refer over a value that has another length, and the next line by so much farther.
  let movedEnd: u32 = 0;
  let farther: i32 = 0;
  memory.fill(RESIZED, 0, MAX_LINES);
  for (let first: u32 = 0; first < count; first += GROUP_LINES) {
    const group = groupAt(block, first >> GROUP_BITS);
    const changed = load<u32>(block + STREAM_CHANGES + ((<usize>(first >> GROUP_BITS)) << 2));
    if (changed == 0 && movedEnd <= first) {
      read += load<u32>(group, 8);
      farther = 0;
      continue;
    }
    const end = min(count, first + GROUP_LINES);
    let isSummed = <u32>popcnt<u32>(changed) <= FEW;
    for (let i = first; i < end; farther += resizedAt(i) - resizedAt(i - period), i++) {
      const sum = sumAt(block, i);
      const bits = load<u32>(sum, 8);
      const isChanged = ((changed >> (i - first)) & 1) != 0;
      const back = linesBack(i, period);
      const by = i >= period ? farther : resizedAt(i - 1);
      if (!isChanged && by == 0) {
        read += bits;
        continue;
      }
      const entry = entryAt(block, i);
      const record = recordAt(block, i);
      const sizes = load<u32>(record, 4);
      const crc = load<u32>(sum);
      const kept = isChanged ? sizes >> 8 : bits;
      let value = isChanged ? writeLineValue(entry) : VALUE;
      at = copyBits(at, span, read + kept);
      read += bits;
      span = read;
      const lineStart = at - kept;
      const isKept = kept != 0 && (by == 0 || refersFarther(lineStart, code, record, by));
      if (isKept && !isChanged) continue;
      if (!isChanged) value = writeLineValue(entry);
      if (!isKept)
        at = writeNotedText(lineStart, code, block, i, back, bytesBetween(block, i - back, i));
      at = writeRest(lineStart, at, code, record, sum, value);
      const resized = (load<u32>(record, 4) & 0xff) - (sizes & 0xff);
      if (resized != 0) {
        store<i8>(RESIZED + <usize>i, <i8>resized);
        movedEnd = i + period + 1;
        isSummed = false;
      }
      if (isSummed) {
        const behind = bytesBetween(block, i + 1, end);
        store<u32>(group, load<u32>(group) ^ shifted(crc ^ load<u32>(sum), behind));
        store<u32>(group, load<u32>(group, 8) + load<u32>(sum, 8) - bits, 8);
      }
    }
    if (!isSummed) sumGroup(block, first >> GROUP_BITS);
  }
  at = copyBits(at, span, read);
  if (count > 0) at = lineFeed(at, code);
  sumAll(block);
  streamWritten(block);
  end(at, code);
  return <u32>(at - start);
}

/** Reads something of the sums of each group that has a changed line, as `prefetch` does of the line. */
function prefetchSums(block: usize): void {
  const groups = (countOf(block) + GROUP_LINES - 1) >> GROUP_BITS;
  let all: u32 = 0;
  for (let group: u32 = 0; group < groups; group++) {
    if (load<u32>(block + STREAM_CHANGES + ((<usize>group) << 2)) == 0) continue;
    const end = sumAt(block, min(countOf(block), (group + 1) << GROUP_BITS));
    for (let at = sumAt(block, group << GROUP_BITS); at < end; at += CACHE_LINE)
      all ^= load<u32>(at);
  }
  store<u32>(PREFETCHED, all);
}

/** How many bytes longer the value of a line is now; 0 where there is no such line. */
function resizedAt(index: u32): i32 {
  return index < MAX_LINES ? <i32>load<i8>(RESIZED + <usize>index) : 0;
}

/** The bytes of the lines from one index on up to another. */
function bytesBetween(block: usize, index: u32, end: u32): u32 {
  let bytes: u32 = 0;
  for (let at = sumAt(block, index); index < end; index++, at += SUM) bytes += load<u32>(at, 4);
  return bytes;
}

function groupAt(block: usize, group: u32): usize {
  return <usize>load<u32>(block, 28) + <usize>group * SUM;
}

/** Sums up the lines of a group. */
function sumGroup(block: usize, group: u32): void {
  const first = group << GROUP_BITS;
  const lines = min(countOf(block) - first, GROUP_LINES);
  addUp(sumAt(block, first), lines, groupAt(block, group));
}

/** Sums up all lines, for whoever called: CRC and number of bytes are in RESULT. */
function sumAll(block: usize): void {
  addUp(groupAt(block, 0), (countOf(block) + GROUP_LINES - 1) >> GROUP_BITS, RESULT);
}

/** The sum of so many sums, one behind the other. */
function addUp(from: usize, count: u32, to: usize): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  let bits: u32 = 0;
  const end = from + <usize>count * SUM;
  for (let at = from; at < end; at += SUM) {
    const length = load<u32>(at, 4);
    crc = shifted(crc, length) ^ load<u32>(at);
    bytes += length;
    bits += load<u32>(at, 8);
  }
  store<u32>(to, crc);
  store<u32>(to, bytes, 4);
  store<u32>(to, bits, 8);
}

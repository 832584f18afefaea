// Writes lines as a deflate block (RFC 1951) without producing their text. Each line is encoded by comparison with an
// earlier line: as matches where both agree, and as literals where they differ. The earlier line is N lines before; N
// is the line distance.
import {
  cellOf,
  countOf,
  labelsLength,
  labelsOf,
  nameLength,
  nameOf,
  opcodeOf,
  prefetch,
  entryAt,
} from './block';
import { shiftCrc, updateCrc } from './crc';
import { MAX_DISTANCE, OVERFLOW, beginMatches, writeDiff } from './line-diff';
import {
  BLOCK_DEFLATE_CHANGES,
  BLOCK_GROUPS,
  BLOCK_LINE_DISTANCE,
  BLOCK_RECORDS,
  BLOCK_TOTALS,
  CHANGES_BYTES,
  CODE_COUNTS,
  CODE_HEADER_BITS,
  DEFLATE_RESULT_AT,
  DEFLATE_TOTALS_SIZE,
  ENTRY_NAME,
  GROUP_BITS,
  LENGTH_DELTAS_AT,
  MATCHES_AT,
  MAX_LINES,
  RECORD_BYTES,
  VALUE_AT,
} from '../layout';
import {
  beginBlock,
  changeDistance,
  copyBits,
  countsOf,
  endBlock,
  writeLineFeed,
  writeLiterals,
} from './symbols';
import { writeValue } from './values';

// Each line has a record of 24 bytes and a total of 12 bytes. The totals are contiguous, since writing a changed line
// also reads the totals of the lines around it.
//
//   0         4              8            24        0        4       8      12
//   +---------+--------------+------------+         +--------+-------+------+
//   | text's  | value's bytes| matches    |         | line's | bytes | bits |
//   | crc u32 | u8, text bits| 4 of u32   |         | crc u32| u32   | u32  |
//   +---------+--------------+------------+         +--------+-------+------+
//
// `bytes` is the length of the line with its line feed. `bits` is the number of compressed bits of the line and of the
// line feed before it. `text bits` is the number of these bits that precede the value; 0 if that number does not fit in
// 24 bits. CRCs are raw CRCs. ./line-diff records the matches. A group of 32 lines has a total as well.
const RECORD_LENGTHS: usize = 4;
const RECORD_MATCHES: usize = 8;
const TOTAL_LENGTH: usize = 4;
const TOTAL_BITS: usize = 8;
const MAX_TEXT_BITS: u64 = 0xffffff;
const GROUP_LINES: u32 = 1 << GROUP_BITS;
/**
 * If at most this many lines of a group changed, each of them corrects the total of the group. Otherwise the total is
 * computed again.
 */
const MAX_CORRECTED: u32 = 6;

const LINE_FEED: u32 = 0x0a;

/** The longest line distance that is tried, and the number of lines that are compressed with each line distance. */
const MAX_LINE_DISTANCE: u32 = 64;
const LINES_TRIED: u32 = 12;
/** No further line distances are tried after this many bytes. */
const MAX_BYTES_TRIED: u32 = 131_072;

/**
 * The length of name and labels of a line. In a line without a cell, the labels include the value and the line feed,
 * but the line feed is not counted.
 */
function lengthOf(entry: usize): u32 {
  return nameLength(entry) + labelsLength(entry) - (cellOf(entry) == 0 ? 1 : 0);
}

function recordsOf(block: usize): usize {
  return <usize>load<u32>(block, BLOCK_RECORDS);
}

function recordAt(block: usize, index: u32): usize {
  return recordsOf(block) + <usize>index * RECORD_BYTES;
}

/** The address of the total of a line. */
function totalAt(block: usize, index: u32): usize {
  return <usize>load<u32>(block, BLOCK_TOTALS) + <usize>index * DEFLATE_TOTALS_SIZE;
}

/**
 * Writes the constant part of a line (see `lengthOf`), with matches in the line that is `lines` lines and `back` bytes
 * before it. The first line of a block has `lines` 0 and is written as literals.
 */
function writeText(at: u64, code: usize, block: usize, index: u32, lines: u32, back: u32): u64 {
  const entry = entryAt(block, index);
  const name = nameOf(entry);
  const nameBytes = nameLength(entry);
  const labels = labelsOf(entry);
  const bytes = lengthOf(entry) - nameBytes;
  if (lines == 0) {
    at = writeLiterals(at, code, name, name + nameBytes);
    return writeLiterals(at, code, labels, labels + bytes);
  }
  const other = entryAt(block, index - lines);
  const otherName = nameLength(other);
  const otherBytes = lengthOf(other) - otherName;
  let before = nameBytes + 1;
  if (load<u32>(entry, ENTRY_NAME) != load<u32>(other, ENTRY_NAME)) {
    at = writeLineFeed(at, code);
    at = writeLiterals(at, code, name, name + nameBytes);
    before = 0;
    back += nameBytes - otherName;
  }
  return writeDiff(at, code, before, name, labels, bytes, labelsOf(other), otherBytes, back);
}

/** Does the same as `writeText`, and stores the matches in the record of the line. */
function writeRecordedText(
  at: u64,
  code: usize,
  block: usize,
  index: u32,
  lines: u32,
  back: u32,
): u64 {
  beginMatches(at);
  at = writeText(at, code, block, index, lines, back);
  v128.store(recordAt(block, index) + RECORD_MATCHES, v128.load(MATCHES_AT));
  return at;
}

/**
 * Adds `by` to the distance of each match of a line. The bits of the line begin at `start`. Returns false if a
 * distance cannot be changed.
 */
function shiftMatches(start: u64, code: usize, record: usize, by: i32): bool {
  for (let at = record + RECORD_MATCHES; at < record + RECORD_BYTES; at += 4) {
    const recorded = load<u32>(at);
    if (recorded == OVERFLOW) return false;
    if (recorded == 0) return true;
    const former = recorded >> 16;
    const distance = former + by;
    // A distance is at least 1, and at most the size of the LZ77 window.
    if (distance - 1 >= <u32>MAX_DISTANCE) return false;
    if (!changeDistance(start + (recorded & 0xffff), code, former, distance)) return false;
    store<u32>(at, (recorded & 0xffff) | (distance << 16));
  }
  return true;
}

/**
 * How many lines before a line its matches refer to. This is the line distance of the block, but 1 for a line with
 * fewer lines before it, and 0 for the first line.
 */
export function linesBack(index: u32, lineDistance: u32): u32 {
  return index >= lineDistance ? lineDistance : min<u32>(index, 1);
}

/**
 * Writes the text of a line's value to VALUE_AT; returns its end. A read of VALUE_AT right after this would stall
 * until the text is stored.
 */
function writeLineValue(entry: usize): usize {
  const cell = cellOf(entry);
  return cell == 0 ? <usize>VALUE_AT : writeValue(load<u64>(cell), opcodeOf(entry), VALUE_AT);
}

/**
 * Writes the value at VALUE_AT to `at`. The line's other bits are already written, from `start` up to `at`. Updates
 * the record and the total of the line.
 */
function putValue(start: u64, at: u64, code: usize, record: usize, total: usize, end: usize): u64 {
  const textBits = at - start;
  const bytes = <u32>(end - VALUE_AT);
  at = writeLiterals(at, code, VALUE_AT, end);
  store<u8>(end, LINE_FEED);
  store<u32>(total, updateCrc(load<u32>(record), VALUE_AT, end + 1));
  const known = textBits > MAX_TEXT_BITS ? 0 : <u32>textBits;
  const former = <u32>load<u8>(record, RECORD_LENGTHS);
  store<u32>(record, bytes | (known << 8), RECORD_LENGTHS);
  store<u32>(total, load<u32>(total, TOTAL_LENGTH) + bytes - former, TOTAL_LENGTH);
  store<u32>(total, <u32>(at - start), TOTAL_BITS);
  return at;
}

/** Initializes the records of all lines. Call `deflateAll` next. */
export function prepareRecords(block: usize): void {
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryAt(block, i);
    const name = nameOf(entry);
    const nameCrc = updateCrc(0, name, name + nameLength(entry));
    const labels = labelsOf(entry);
    const length = lengthOf(entry);
    const record = recordAt(block, i);
    store<u32>(record, updateCrc(nameCrc, labels, labels + length - nameLength(entry)));
    store<u32>(record, 0, RECORD_LENGTHS);
    store<u32>(totalAt(block, i), length + 1, TOTAL_LENGTH);
  }
}

/** The line distance with which a sample of the lines takes the fewest bits. The sample is written to `to`. */
export function bestLineDistance(block: usize, code: usize, to: usize): u32 {
  let best: u32 = 1;
  let fewest: u64 = u64.MAX_VALUE;
  const count = countOf(block);
  const longest = min(MAX_LINE_DISTANCE, count / 2);
  const step = max<u32>(1, (count - longest) / LINES_TRIED);
  let tried: u32 = 0;
  for (
    let lineDistance: u32 = 1;
    lineDistance <= longest && tried < MAX_BYTES_TRIED;
    lineDistance++
  ) {
    let bits: u64 = 0;
    for (let i = longest; i < count; i += step) {
      const start = (<u64>to) << 3;
      // An estimate of the length of each line in between. It is at least the length of the line that the matches
      // refer to.
      const length =
        max(lengthOf(entryAt(block, i)), lengthOf(entryAt(block, i - lineDistance))) + 8;
      bits += writeText(start, code, block, i, lineDistance, lineDistance * length) - start;
      tried += length;
    }
    if (bits >= fewest) continue;
    fewest = bits;
    best = lineDistance;
  }
  return best;
}

/** Counts the symbols of all lines. The counts are stored at `to`. */
export function countSymbols(block: usize, code: usize, to: usize): void {
  store<u32>(code, <u32>to, CODE_COUNTS);
  deflateAll(block, code, to);
  store<u32>(code, 0, CODE_COUNTS);
}

// The matches of line i begin in line i - N, where N is the line distance. So they reach back over the lines of a
// window: i - N to i - 1. The first N lines match the line before them, and their window is this line alone.
//
//   | i - 1 - N |  i - N  |  …  |  i - 1  |  i  |
//     leaves      |◀──── window of i ────▶|

/** Writes all lines to `to` as a deflate block; returns the bytes of the block. */
export function deflateAll(block: usize, code: usize, to: usize): u32 {
  const isCounted = countsOf(code) != 0;
  const start = isCounted ? (<u64>to) << 3 : beginBlock(code, to);
  const count = countOf(block);
  const lineDistance = load<u32>(block, BLOCK_LINE_DISTANCE);
  let at = start;
  // The bytes of the `lineDistance` lines before a line.
  let window: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryAt(block, i);
    const record = recordAt(block, i);
    const lines = linesBack(i, lineDistance);
    window += lineBytes(block, i - 1) - lineBytes(block, i - 1 - lineDistance);
    const back = i >= lineDistance ? window : lineBytes(block, i - 1);
    const value = writeLineValue(entry);
    const text = writeRecordedText(at, code, block, i, lines, back);
    at = putValue(at, text, code, record, totalAt(block, i), value);
  }
  if (count > 0) at = writeLineFeed(at, code);
  if (isCounted) return 0;
  for (let group: u32 = 0; group << GROUP_BITS < count; group++) combineGroup(block, group);
  return finishBlock(block, code, at, to);
}

/**
 * Ends a deflate block, and stores the total of its lines in DEFLATE_RESULT_AT, with their CRC-32 instead of the raw
 * CRC. Returns the bytes of the block.
 */
function finishBlock(block: usize, code: usize, at: u64, to: usize): u32 {
  const groups = (countOf(block) + GROUP_LINES - 1) >> GROUP_BITS;
  combineTotals(groupAt(block, 0), groups, DEFLATE_RESULT_AT);
  const inversions = ~shiftCrc(0xffffffff, load<u32>(DEFLATE_RESULT_AT, TOTAL_LENGTH));
  store<u32>(DEFLATE_RESULT_AT, load<u32>(DEFLATE_RESULT_AT) ^ inversions);
  memory.fill(block + BLOCK_DEFLATE_CHANGES, 0, CHANGES_BYTES);
  return <u32>(endBlock(at, code) - to);
}

/** The bytes of a line; 0 for a negative index, which as u32 is larger than every index. */
function lineBytes(block: usize, index: u32): u32 {
  return index < <u32>MAX_LINES ? load<u32>(totalAt(block, index), TOTAL_LENGTH) : 0;
}

// A changed line in the last deflate block and in the new one. The bits of its text are kept, and its value is written
// again. The bits of the unchanged lines before it are copied together with those of its text.
//
//         copyStart                      copyEnd - bits          copyEnd
//   last: |       unchanged lines        |      text     |  value  |
//   new:  |       copied                 |      copied   |  written  |
//                                        lineStart                   at

/**
 * Writes the changed lines as a deflate block to `to`, and copies the bits of all other lines from the block at `from`.
 * Returns the bytes of the block.
 */
export function deflateChanged(block: usize, code: usize, from: usize, to: usize): u32 {
  prefetch(block, BLOCK_DEFLATE_CHANGES, recordsOf(block), RECORD_BYTES);
  const count = countOf(block);
  const lineDistance = load<u32>(block, BLOCK_LINE_DISTANCE);
  let at = beginBlock(code, to);
  let copyStart = ((<u64>from) << 3) + load<u32>(code, CODE_HEADER_BITS);
  let copyEnd = copyStart;
  // The change in length of the N lines before a line. It is 0 from line `growthEnd` on, unless a later line changes.
  let growth: i32 = 0;
  let growthEnd: u32 = 0;
  memory.fill(LENGTH_DELTAS_AT, 0, MAX_LINES);
  for (let first: u32 = 0; first < count; first += GROUP_LINES) {
    const group = first >> GROUP_BITS;
    const changed = load<u32>(block + BLOCK_DEFLATE_CHANGES + ((<usize>group) << 2));
    if (changed == 0 && growthEnd <= first) {
      copyEnd += load<u32>(groupAt(block, group), TOTAL_BITS);
      growth = 0;
      continue;
    }
    const end = min(count, first + GROUP_LINES);
    let isCorrected = <u32>popcnt<u32>(changed) <= MAX_CORRECTED;
    for (let i = first; i < end; i++) {
      growth += lengthDelta(i - 1) - lengthDelta(i - 1 - lineDistance);
      const total = totalAt(block, i);
      const bits = load<u32>(total, TOTAL_BITS);
      const isChanged = ((changed >> (i - first)) & 1) != 0;
      const windowGrowth = i >= lineDistance ? growth : lengthDelta(i - 1);
      copyEnd += bits;
      if (!isChanged && windowGrowth == 0) continue;
      const entry = entryAt(block, i);
      const record = recordAt(block, i);
      const lengths = load<u32>(record, RECORD_LENGTHS);
      const crc = load<u32>(total);
      // Keep the bits of the text, or all bits of an unchanged line.
      const kept = isChanged ? lengths >> 8 : bits;
      const valueEnd = writeLineValue(entry);
      at = copyBits(at, copyStart, copyEnd - bits + kept);
      copyStart = copyEnd;
      const lineStart = at - kept;
      const isKept =
        kept != 0 && (windowGrowth == 0 || shiftMatches(lineStart, code, record, windowGrowth));
      if (isKept && !isChanged) continue;
      if (!isKept) {
        const lines = linesBack(i, lineDistance);
        const back = bytesBetween(block, i - lines, i);
        at = writeRecordedText(lineStart, code, block, i, lines, back);
      }
      at = putValue(lineStart, at, code, record, total, valueEnd);
      const delta = (load<u32>(record, RECORD_LENGTHS) & 0xff) - (lengths & 0xff);
      if (delta != 0) {
        store<i8>(<usize>i, <i8>delta, LENGTH_DELTAS_AT);
        growthEnd = i + lineDistance + 1;
        isCorrected = false;
      }
      if (isCorrected) {
        const behind = bytesBetween(block, i + 1, end);
        const groupTotal = groupAt(block, group);
        store<u32>(groupTotal, load<u32>(groupTotal) ^ shiftCrc(crc ^ load<u32>(total), behind));
        store<u32>(
          groupTotal,
          load<u32>(groupTotal, TOTAL_BITS) + load<u32>(total, TOTAL_BITS) - bits,
          TOTAL_BITS,
        );
      }
    }
    if (!isCorrected) combineGroup(block, group);
  }
  at = copyBits(at, copyStart, copyEnd);
  if (count > 0) at = writeLineFeed(at, code);
  return finishBlock(block, code, at, to);
}

/** The change in length of a line's value; 0 for a negative index: see `lineBytes`. */
function lengthDelta(index: u32): i32 {
  return index < <u32>MAX_LINES ? <i32>load<i8>(<usize>index, LENGTH_DELTAS_AT) : 0;
}

/** The bytes of the lines from one index up to another. */
function bytesBetween(block: usize, index: u32, end: u32): u32 {
  let bytes: u32 = 0;
  for (let at = totalAt(block, index); index < end; index++, at += DEFLATE_TOTALS_SIZE)
    bytes += load<u32>(at, TOTAL_LENGTH);
  return bytes;
}

function groupAt(block: usize, group: u32): usize {
  return <usize>load<u32>(block, BLOCK_GROUPS) + <usize>group * DEFLATE_TOTALS_SIZE;
}

/** Computes the total of a group. */
function combineGroup(block: usize, group: u32): void {
  const first = group << GROUP_BITS;
  const lines = min(countOf(block) - first, GROUP_LINES);
  combineTotals(totalAt(block, first), lines, groupAt(block, group));
}

/** Combines consecutive totals into one. */
function combineTotals(from: usize, count: u32, to: usize): void {
  let crc: u32 = 0;
  let bytes: u32 = 0;
  let bits: u32 = 0;
  const end = from + <usize>count * DEFLATE_TOTALS_SIZE;
  for (let at = from; at < end; at += DEFLATE_TOTALS_SIZE) {
    const length = load<u32>(at, TOTAL_LENGTH);
    crc = shiftCrc(crc, length) ^ load<u32>(at);
    bytes += length;
    bits += load<u32>(at, TOTAL_BITS);
  }
  store<u32>(to, crc);
  store<u32>(to, bytes, TOTAL_LENGTH);
  store<u32>(to, bits, TOTAL_BITS);
}

// Encodes a text as its difference from a similar text: matches for common parts, literals for the rest.
import { MATCHES_AT, MAX_MATCH } from '../layout';
import { writeLineFeed, writeLiterals, writeMatch } from './symbols';

const MIN_MATCH: u32 = 3;
export const MAX_DISTANCE: u32 = 32_768;
const QUOTE: u32 = 0x22;

// MATCHES_AT holds up to four matches of the last text. Each has two u16: where its bits end, relative to the start
// of the line, and its distance. If not all matches can be recorded, the first one is OVERFLOW.
export const OVERFLOW: u32 = 0xffffffff;
const MAX_RECORDED: u32 = 4;
let recorded: u32 = 0;
let lineStart: u64 = 0;

/** Begins to record the matches of the line whose bits begin at `at`. */
export function beginMatches(at: u64): void {
  recorded = 0;
  lineStart = at;
  v128.store(MATCHES_AT, i32x4.splat(0));
}

function record(at: u64, length: u32, distance: u32): void {
  const end = at - lineStart;
  if (recorded == MAX_RECORDED || end > 0xffff || length > <u32>MAX_MATCH) {
    store<u32>(MATCHES_AT, OVERFLOW);
    recorded = MAX_RECORDED;
    return;
  }
  store<u32>((<usize>recorded) << 2, (<u32>end) | (distance << 16), MATCHES_AT);
  recorded++;
}

/** The length of the common prefix at `a` and `b`, at most `limit`. */
function commonPrefix(a: usize, b: usize, limit: u32): u32 {
  let i: u32 = 0;
  for (; i + 16 <= limit; i += 16) {
    const differs = i8x16.bitmask(i8x16.eq(v128.load(a + i), v128.load(b + i))) ^ 0xffff;
    if (differs != 0) return i + <u32>ctz<i32>(differs);
  }
  if (i + 8 <= limit) {
    const differs = load<u64>(a + i) ^ load<u64>(b + i);
    if (differs != 0) return i + ((<u32>ctz<u64>(differs)) >> 3);
    i += 8;
  }
  while (i < limit && load<u8>(a + i) == load<u8>(b + i)) i++;
  return i;
}

function quoteFrom(text: usize, from: u32, length: u32): u32 {
  while (from < length && load<u8>(text + from) != QUOTE) from++;
  return from;
}

/** True for digits, letters and bytes beyond ASCII. */
function isWordByte(byte: u32): bool {
  return byte - 0x30 < 10 || (byte | 0x20) - 0x61 < 26 || byte >= 0x80;
}

function afterWord(text: usize, from: u32, length: u32): u32 {
  while (from < length && isWordByte(load<u8>(text + from))) from++;
  return from;
}

/**
 * Writes a line feed and the name that two lines share, together `before` bytes (0 if they are written already). Then
 * writes a text as its difference from the text `back` bytes earlier. Where the texts differ, both are skipped to the
 * end of the word. If they still differ there, they are skipped to the next quote, which ends a label's value.
 */
export function writeDiff(
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
    const run = commonPrefix(text + i, other + j, min(length - i, otherLength - j));
    const distance = back + i - j;
    let next = i + run;
    j += run;
    if (run + before >= MIN_MATCH && distance <= MAX_DISTANCE) {
      at = writeMatch(at, code, run + before, distance);
      record(at, run + before, distance);
      i = next;
    } else if (before != 0) {
      at = writeLineFeed(at, code);
      at = writeLiterals(at, code, name, name + before - 1);
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
    at = writeLiterals(at, code, text + i, text + next);
    i = next;
    if (i == length) return at;
  }
}

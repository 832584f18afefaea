// Texts that are much alike: what is in both is referred to, the rest is written.
import { NOTES_AT } from '../layout';
import { LONGEST, lineFeed, literals, reference } from './symbols';

const SHORTEST: u32 = 3;
export const FARTHEST: u32 = 32_768;
const QUOTE: u32 = 0x22;

// At NOTES are the references of the text that was written last, at most four: where the bits of each end,
// counted from those of the line, u16, and its distance u16. Where they do not fit, the first is UNKNOWN.
const NOTES: usize = NOTES_AT;
export const UNKNOWN: u32 = 0xffffffff;
const MAX_NOTED: u32 = 4;
let noted: u32 = 0;
let notedFrom: u64 = 0;

/** References are noted from here on: the bits of a line begin. */
export function noteReferences(at: u64): void {
  noted = 0;
  notedFrom = at;
  v128.store(NOTES, i32x4.splat(0));
}

function note(at: u64, length: u32, distance: u32): void {
  const end = at - notedFrom;
  if (noted == MAX_NOTED || end > 0xffff || length > LONGEST) {
    store<u32>(NOTES, UNKNOWN);
    noted = MAX_NOTED;
    return;
  }
  store<u32>(NOTES + ((<usize>noted) << 2), (<u32>end) | (distance << 16));
  noted++;
}

/** How many bytes at `a` and `b` are equal, at most `limit`. */
function common(a: usize, b: usize, limit: u32): u32 {
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
export function textAfter(
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
      note(at, run + before, distance);
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

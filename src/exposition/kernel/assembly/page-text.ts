// Writes the text of a page as a deflate stream (RFC 1951). A line mostly has the name of the line before
// it and the labels of a line in the family before; what else repeats is found by its first four or eight bytes.
import { FARTHEST, SHORTEST, common, textAfter } from './likeness';
import { areCounted, begin, countAt, end, literals, reference } from './symbols';

/** Where four bytes stood last, by a hash of them: 4096 addresses u32. Then the same for eight bytes. */
const HASH_BITS: u32 = 12;
const HASHES: usize = 4 << HASH_BITS;

/** A short run that is far away takes more bits than its characters. */
const FAR: usize = 4096;
const SHORT: u32 = 4;
const SHORT_IF_FAR: u32 = 6;

/**
 * To search takes eight to sixteen nanoseconds a byte. Of more bytes than these, the rest is not
 * searched: lines are compared with those before them.
 */
const MAX_SEARCHED: usize = 1 << 18;
/** The most characters of a value, and how many lines of the family before may be passed over. */
const LONGEST_VALUE: u32 = 25;
const MAX_SKIPPED: u32 = 4;

const LINE_FEED: u8 = 0x0a;
const BLANK: u32 = 0x20;
const NUMBER_SIGN: u32 = 0x23;
const BRACE: u32 = 0x7b;

/** The first character of the text: nothing is before it. */
let textStart: usize = 0;
/** What is not written yet begins here. */
let open: usize = 0;
let searched: usize = 0;
/** The line of the family before with which the next line is compared, and the end of that family. */
let candidate: usize = 0;
let candidatesEnd: usize = 0;
/** The length of the name of the line before, and of the last one in that family. */
let formerName: u32 = 0;
let candidateName: u32 = 0;
/** How much of a line's labels and value the candidate has too, and where its labels are. */
let run: u32 = 0;
let candidateLabels: usize = 0;

/** Counts the symbols of a text: 316 numbers of 32 bits at `to`. `room` is for 32 KiB. */
export function countText(from: usize, bytes: u32, code: usize, room: usize, to: usize): void {
  countAt(to);
  deflateText(from, bytes, code, room, to);
  countAt(0);
}

/** Writes a text to `to`, as a block of the stream; returns its bits. `room` is for 32 KiB. */
export function deflateText(from: usize, bytes: u32, code: usize, room: usize, to: usize): u32 {
  const start = areCounted() ? (<u64>to) << 3 : begin(code, to);
  const stop = from + <usize>bytes;
  memory.fill(room, 0, 2 * HASHES);
  textStart = open = from;
  candidate = candidatesEnd = 0;
  searched = 0;
  let at = start;
  // The first line of the family, and the line before; 0 outside of one.
  let family: usize = 0;
  let former: usize = 0;
  for (let line = from; line < stop;) {
    const lineEnd = endOfLine(line, stop);
    if (<u32>load<u8>(line) != NUMBER_SIGN) {
      if (former == 0) family = line;
      at = sample(at, code, line, lineEnd, former, room);
      former = line;
    } else if (former != 0) {
      candidate = family;
      candidatesEnd = line;
      candidateName = formerName;
      former = 0;
    }
    line = lineEnd + 1;
  }
  at = anyText(at, code, open, stop, room);
  if (!areCounted()) end(at, code);
  return <u32>(at - start);
}

/**
 * Writes a series and its value with what is open before it, or leaves them open; `former` is the line
 * before, of the same family. A line is written with the line feed before it.
 */
function sample(
  at: u64,
  code: usize,
  line: usize,
  lineEnd: usize,
  former: usize,
  room: usize,
): u64 {
  // With the character behind the name.
  const isAlike =
    former > textStart &&
    line - former <= <usize>FARTHEST &&
    common(line, former, formerName + 1) == formerName + 1;
  const labels = isAlike ? line + <usize>formerName : endOfName(line, lineEnd);
  const name = <u32>(labels - line);
  formerName = name;
  if (isLikeCandidate(labels, lineEnd)) {
    if (isAlike && name + 1 >= SHORTEST) {
      at = anyText(at, code, open, line - 1, room);
      at = reference(at, code, name + 1, <u32>(line - former));
    } else at = anyText(at, code, open, labels, room);
    at = reference(at, code, run, <u32>(labels - candidateLabels));
    candidate = endOfLine(candidateLabels + <usize>run, candidatesEnd) + 1;
    open = lineEnd;
    return literals(at, code, labels + <usize>run, lineEnd);
  }
  if (!isAlike || searched + (lineEnd - open) <= MAX_SEARCHED) return at;
  const value = startOfValue(labels, lineEnd);
  const formerLabels = former + <usize>name;
  const formerBytes = <u32>(startOfValue(formerLabels, line - 1) - formerLabels);
  const bytes = <u32>(value - labels);
  at = anyText(at, code, open, line - 1, room);
  const back = <u32>(line - former);
  at = textAfter(at, code, name + 1, line, labels, bytes, formerLabels, formerBytes, back);
  open = lineEnd;
  return literals(at, code, value, lineEnd);
}

/** Whether the candidate or one of the next lines has the same labels. */
function isLikeCandidate(labels: usize, lineEnd: usize): bool {
  let other = candidate;
  for (let tried: u32 = 0; tried <= MAX_SKIPPED && other != 0 && other < candidatesEnd; tried++) {
    const likely = other + <usize>candidateName;
    candidateLabels = isEndOfName(likely) ? likely : endOfName(other, candidatesEnd);
    const most = min(lineEnd - labels, candidatesEnd - candidateLabels);
    run = common(labels, candidateLabels, <u32>most);
    const isNear = labels - candidateLabels <= <usize>FARTHEST;
    if (isNear && run >= SHORTEST && isValue(labels + <usize>run, lineEnd)) return true;
    other = endOfLine(candidateLabels, candidatesEnd) + 1;
  }
  return false;
}

function isEndOfName(at: usize): bool {
  const byte = <u32>load<u8>(at);
  return byte == BRACE || byte == BLANK;
}

/** Whether no more than a value is left of a line. */
function isValue(from: usize, lineEnd: usize): bool {
  if (lineEnd - from > <usize>LONGEST_VALUE) return false;
  for (; from < lineEnd; from++) if (<u32>load<u8>(from) == BLANK) return false;
  return true;
}

/**
 * Any text. What stood before is referred to where its first eight bytes were seen last, or its first
 * four: the former is mostly the longer one.
 */
function anyText(at: u64, code: usize, from: usize, stop: usize, room: usize): u64 {
  let written = from;
  let byte = from;
  searched += stop - from;
  if (searched > MAX_SEARCHED) return literals(at, code, from, stop);
  while (byte + 4 <= stop) {
    const near = seenAt(room, hashOf(load<u32>(byte)), byte);
    const long = byte + 8 <= stop ? seenAt(room + HASHES, longHashOf(load<u64>(byte)), byte) : 0;
    let length = lengthSeen(byte, long, stop);
    let seen = long;
    if (length < 8) {
      length = lengthSeen(byte, near, stop);
      seen = near;
    }
    if (length < (byte - seen > FAR ? SHORT_IF_FAR : SHORT)) {
      byte++;
      continue;
    }
    at = literals(at, code, written, byte);
    at = reference(at, code, length, <u32>(byte - seen));
    byte += <usize>length;
    written = byte;
  }
  return literals(at, code, written, stop);
}

/** How many bytes are those at a place where they were seen before; 0 if it is none, or too far away. */
function lengthSeen(byte: usize, seen: usize, stop: usize): u32 {
  if (seen == 0 || byte - seen > <usize>FARTHEST) return 0;
  return common(byte, seen, <u32>(stop - byte));
}

/** Where the last bytes with that hash stood; from now on it is here. */
function seenAt(table: usize, hash: u32, byte: usize): usize {
  const place = table + ((<usize>hash) << 2);
  const seen = <usize>load<u32>(place);
  store<u32>(place, <u32>byte);
  return seen;
}

function hashOf(text: u32): u32 {
  return (text * 0x9e3779b1) >> (32 - HASH_BITS);
}

function longHashOf(text: u64): u32 {
  return <u32>((text * 0x9e3779b97f4a7c15) >> (64 - HASH_BITS));
}

/** The next line feed, or the end of the text. */
function endOfLine(from: usize, stop: usize): usize {
  const feed = i8x16.splat(LINE_FEED);
  for (; from < stop; from += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(from), feed));
    if (found != 0) return min(stop, from + <usize>ctz<i32>(found));
  }
  return stop;
}

/** Where the labels of a series begin, or the blank before its value. */
function endOfName(from: usize, stop: usize): usize {
  const brace = i8x16.splat(<u8>BRACE);
  const blank = i8x16.splat(<u8>BLANK);
  for (; from < stop; from += 16) {
    const text = v128.load(from);
    const found = i8x16.bitmask(v128.or(i8x16.eq(text, brace), i8x16.eq(text, blank)));
    if (found != 0) return min(stop, from + <usize>ctz<i32>(found));
  }
  return stop;
}

/** Behind the last blank of a line. */
function startOfValue(from: usize, lineEnd: usize): usize {
  let at = lineEnd;
  while (at > from && <u32>load<u8>(at - 1) != BLANK) at--;
  return at == from ? lineEnd : at;
}

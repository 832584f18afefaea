// Writes the lines of a block as exposition text.
import {
  TEXT_CHANGES,
  cellOf,
  countOf,
  entryAt,
  labelsLength,
  labelsOf,
  lengthsOf,
  nameLength,
  nameOf,
  nextChanged,
  offsetsOf,
  opOf,
  prefetch,
  textWritten,
} from './block';
import { copyText } from './copy';
import { writeValue } from './values';

/** Room for a value in `rewrite`, which is longer than any; its length is behind it. */
const VALUE_ROOM: usize = 32;
const VALUE_BYTES: usize = 31;

/** Writes all lines to `to`; returns the bytes written. */
export function renderAll(block: usize, to: usize): u32 {
  let at = to;
  const count = countOf(block);
  const offsets = offsetsOf(block);
  const lengths = lengthsOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryAt(block, i);
    const name = nameLength(entry);
    copyText(at, nameOf(entry), name);
    at += name;
    const labels = labelsLength(entry);
    copyText(at, labelsOf(entry), labels);
    at += labels;
    store<u32>(offsets + ((<usize>i) << 2), <u32>(at - to));
    const cell = cellOf(entry);
    if (cell == 0) continue;
    const end = writeValue(load<u64>(cell), opOf(entry), at);
    store<u8>(lengths + <usize>i, <u8>(end - at));
    store<u8>(end, 0x0a);
    at = end + 1;
  }
  textWritten(block);
  return <u32>(at - to);
}

/**
 * Writes the changed values, and copies what is between them from the last text at `from`, of so many
 * bytes; returns the bytes written.
 */
export function renderChanged(block: usize, from: usize, bytes: u32, to: usize): u32 {
  let at = to;
  let span: u32 = 0;
  const count = countOf(block);
  prefetch(block, TEXT_CHANGES, offsetsOf(block), 4);
  let i = nextChanged(block, TEXT_CHANGES, 0);
  while (i < count) {
    const entry = entryAt(block, i);
    const offset = offsetAt(block, i);
    memory.copy(at, from + span, offset - span);
    at += offset - span;
    span = offset + lengthAt(block, i);
    setOffset(block, i, <u32>(at - to));
    const end = writeValue(load<u64>(cellOf(entry)), opOf(entry), at);
    setLength(block, i, <u32>(end - at));
    at = end;
    const next = nextChanged(block, TEXT_CHANGES, i + 1);
    move(block, i + 1, next, <u32>(at - to) - span);
    i = next;
  }
  memory.copy(at, from + span, bytes - span);
  textWritten(block);
  return <u32>(at - to) + (bytes - span);
}

/**
 * Writes the changed values into the text at `text`, which has room for any values; returns how many
 * bytes it has then. `room` holds 32 bytes for each change.
 */
export function rewrite(block: usize, text: usize, bytes: u32, room: usize): u32 {
  const count = countOf(block);
  prefetch(block, TEXT_CHANGES, offsetsOf(block), 4);
  let at = room;
  let isLonger = false;
  let isShorter = false;
  let shift: i32 = 0;
  for (
    let i = nextChanged(block, TEXT_CHANGES, 0);
    i < count;
    i = nextChanged(block, TEXT_CHANGES, i + 1)
  ) {
    const entry = entryAt(block, i);
    const length = <u32>(writeValue(load<u64>(cellOf(entry)), opOf(entry), at) - at);
    shift += length - lengthAt(block, i);
    isLonger = isLonger || shift > 0;
    isShorter = isShorter || shift < 0;
    store<u8>(at, <u8>length, VALUE_BYTES);
    at += VALUE_ROOM;
  }
  // Text that moves to the right goes first, from the end on: nothing is in its way then.
  if (isLonger) moveRight(block, text, bytes, room, at, shift);
  if (isShorter) moveLeft(block, text, bytes, room);
  place(block, text, room);
  textWritten(block);
  return bytes + shift;
}

/** Moves the spans between changed values that must go to the right. */
function moveRight(
  block: usize,
  text: usize,
  bytes: u32,
  room: usize,
  end: usize,
  shift: i32,
): void {
  let at = end;
  let spanEnd = bytes;
  let i = countOf(block);
  while (at > room) {
    at -= VALUE_ROOM;
    i = formerChanged(block, i);
    const length = lengthAt(block, i);
    const start = offsetAt(block, i) + length;
    if (shift > 0) memory.copy(text + start + shift, text + start, spanEnd - start);
    shift -= <u32>load<u8>(at, VALUE_BYTES) - length;
    spanEnd = start - length;
  }
}

/** Moves the spans between changed values that must go to the left. */
function moveLeft(block: usize, text: usize, bytes: u32, room: usize): void {
  const count = countOf(block);
  let at = room;
  let shift: i32 = 0;
  let i = nextChanged(block, TEXT_CHANGES, 0);
  while (i < count) {
    const length = lengthAt(block, i);
    const start = offsetAt(block, i) + length;
    shift += <u32>load<u8>(at, VALUE_BYTES) - length;
    i = nextChanged(block, TEXT_CHANGES, i + 1);
    const spanEnd = i < count ? offsetAt(block, i) : bytes;
    if (shift < 0) memory.copy(text + start + shift, text + start, spanEnd - start);
    at += VALUE_ROOM;
  }
}

/** Writes the changed values where they belong now. */
function place(block: usize, text: usize, room: usize): void {
  const count = countOf(block);
  let at = room;
  let shift: i32 = 0;
  let i = nextChanged(block, TEXT_CHANGES, 0);
  while (i < count) {
    const length = <u32>load<u8>(at, VALUE_BYTES);
    const offset = offsetAt(block, i) + shift;
    copyShort(text + offset, at, length);
    shift += length - lengthAt(block, i);
    setOffset(block, i, offset);
    setLength(block, i, length);
    const next = nextChanged(block, TEXT_CHANGES, i + 1);
    move(block, i + 1, next, shift);
    i = next;
    at += VALUE_ROOM;
  }
}

/** The values of these lines are farther behind by so many bytes. */
function move(block: usize, index: u32, end: u32, bytes: i32): void {
  if (bytes == 0) return;
  const by = i32x4.splat(bytes);
  let at = offsetsOf(block) + ((<usize>index) << 2);
  for (; index + 4 <= end; index += 4, at += 16) v128.store(at, i32x4.add(v128.load(at), by));
  for (; index < end; index++, at += 4) store<u32>(at, load<u32>(at) + bytes);
}

/** The offset of a line's value in the text that was written last. */
function offsetAt(block: usize, index: u32): u32 {
  return load<u32>(offsetsOf(block) + ((<usize>index) << 2));
}

function setOffset(block: usize, index: u32, offset: u32): void {
  store<u32>(offsetsOf(block) + ((<usize>index) << 2), offset);
}

/** The length of that value. */
function lengthAt(block: usize, index: u32): u32 {
  return <u32>load<u8>(lengthsOf(block) + <usize>index);
}

function setLength(block: usize, index: u32, length: u32): void {
  store<u8>(lengthsOf(block) + <usize>index, <u8>length);
}

/** The index of the last line before `index` whose value changed; there is one. */
function formerChanged(block: usize, index: u32): u32 {
  let rest: u32;
  do {
    index--;
    rest = load<u32>(block + TEXT_CHANGES + ((<usize>(index >> 5)) << 2)) << (31 - (index & 31));
    if (rest == 0) index &= ~31;
  } while (rest == 0);
  return index - <u32>clz<u32>(rest);
}

/** Copies up to 32 bytes, exactly. */
function copyShort(to: usize, from: usize, bytes: u32): void {
  let i: usize = 0;
  for (; i + 8 <= <usize>bytes; i += 8) store<u64>(to + i, load<u64>(from + i));
  for (; i < <usize>bytes; i++) store<u8>(to + i, load<u8>(from + i));
}

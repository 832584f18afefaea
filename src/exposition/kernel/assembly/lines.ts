// Writes the lines of a block as exposition text.
import {
  TEXT_CHANGES,
  cellOf,
  countOf,
  entryAt,
  fetch,
  hasChanged,
  labelsLength,
  labelsOf,
  nameLength,
  nameOf,
  nextChanged,
  opOf,
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
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryAt(block, i);
    const name = nameLength(entry);
    copyText(at, nameOf(entry), name);
    at += name;
    const labels = labelsLength(entry);
    copyText(at, labelsOf(entry), labels);
    at += labels;
    store<u32>(entry, <u32>(at - to), 20);
    const cell = cellOf(entry);
    if (cell == 0) continue;
    const end = writeValue(load<u64>(cell), opOf(entry), at);
    store<u8>(entry, <u8>(end - at), 24);
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
  fetch(block, TEXT_CHANGES, 0, 0);
  let i = nextChanged(block, TEXT_CHANGES, 0);
  while (i < count) {
    const entry = entryAt(block, i);
    const offset = load<u32>(entry, 20);
    memory.copy(at, from + span, offset - span);
    at += offset - span;
    span = offset + <u32>load<u8>(entry, 24);
    store<u32>(entry, <u32>(at - to), 20);
    const end = writeValue(load<u64>(cellOf(entry)), opOf(entry), at);
    store<u8>(entry, <u8>(end - at), 24);
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
  fetch(block, TEXT_CHANGES, 0, 0);
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
    shift += length - <u32>load<u8>(entry, 24);
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
    const entry = entryAt(block, i);
    const length = <u32>load<u8>(entry, 24);
    const start = load<u32>(entry, 20) + length;
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
    const entry = entryAt(block, i);
    const length = <u32>load<u8>(entry, 24);
    const start = load<u32>(entry, 20) + length;
    shift += <u32>load<u8>(at, VALUE_BYTES) - length;
    i = nextChanged(block, TEXT_CHANGES, i + 1);
    const spanEnd = i < count ? load<u32>(entryAt(block, i), 20) : bytes;
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
    const entry = entryAt(block, i);
    const length = <u32>load<u8>(at, VALUE_BYTES);
    const offset = load<u32>(entry, 20) + shift;
    copyShort(text + offset, at, length);
    shift += length - <u32>load<u8>(entry, 24);
    store<u32>(entry, offset, 20);
    store<u8>(entry, <u8>length, 24);
    const next = nextChanged(block, TEXT_CHANGES, i + 1);
    move(block, i + 1, next, shift);
    i = next;
    at += VALUE_ROOM;
  }
}

/** The values of these lines are farther behind by so many bytes. */
function move(block: usize, index: u32, end: u32, bytes: i32): void {
  if (bytes == 0) return;
  for (; index < end; index++) {
    const entry = entryAt(block, index);
    store<u32>(entry, load<u32>(entry, 20) + bytes, 20);
  }
}

/** The index of the last line before `index` whose value changed; there is one. */
function formerChanged(block: usize, index: u32): u32 {
  do index--;
  while (!hasChanged(block, TEXT_CHANGES, index));
  return index;
}

/** Copies up to 32 bytes, exactly. */
function copyShort(to: usize, from: usize, bytes: u32): void {
  let i: usize = 0;
  for (; i + 8 <= <usize>bytes; i += 8) store<u64>(to + i, load<u64>(from + i));
  for (; i < <usize>bytes; i++) store<u8>(to + i, load<u8>(from + i));
}

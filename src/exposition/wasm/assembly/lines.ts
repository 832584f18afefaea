// Writes chunks of exposition text: the lines of consecutive blocks.
import {
  cellOf,
  changedLines,
  countOf,
  entriesOf,
  entryAt,
  labelsLength,
  labelsOf,
  lengthsOf,
  nameLength,
  nameOf,
  nextChanged,
  entryNumberAt,
  offsetsOf,
  opcodeOf,
  prefetch,
  textDirtyFlags,
  textWritten,
} from './block';
import {
  BLOCK_TEXT_CHANGES,
  CHUNK_BLOCKS,
  CHUNK_BLOCK_BYTES,
  CHUNK_BLOCK_START,
  ENTRY_BYTES,
  REWRITE_VALUE_BYTES,
} from '../layout';
import { numberOf, writeValue } from './values';

/** The result of `previousChanged` if there is no line. */
const NONE: u32 = 0xffffffff;

/**
 * The scratch buffer of `rewrite` has REWRITE_VALUE_BYTES for each value. The last of these bytes is the length of
 * the value's text.
 */
const LENGTH_OFFSET: usize = REWRITE_VALUE_BYTES - 1;

/** Writes all lines of a chunk to `to`; returns the bytes written. */
export function renderAll(chunk: usize, to: usize): u32 {
  let at = to;
  const last = endOf(chunk);
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES) {
    setStart(item, <u32>(at - to));
    at = renderBlock(blockOf(item), at);
  }
  return <u32>(at - to);
}

/** Writes all lines of a block to `to`; returns the address after them. */
function renderBlock(block: usize, to: usize): usize {
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
    const end = writeValue(load<u64>(cell), opcodeOf(entry), at);
    store<u8>(lengths + <usize>i, <u8>(end - at));
    store<u8>(end, 0x0a);
    at = end + 1;
  }
  textWritten(block);
  return at;
}

/**
 * Writes the text of a chunk to `to` if only values changed: writes the changed values, and copies the text between them
 * from the last text, which has `bytes` bytes at `from`. Returns the bytes written.
 */
export function renderChanged(chunk: usize, from: usize, bytes: u32, to: usize): u32 {
  let at = to;
  let copyStart: u32 = 0;
  const last = endOf(chunk);
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES) {
    const block = blockOf(item);
    const oldStart = startOf(item);
    const start = <u32>(at - to) + oldStart - copyStart;
    setStart(item, start);
    if (textDirtyFlags(block) == 0) continue;
    const count = countOf(block);
    prefetch(block, BLOCK_TEXT_CHANGES, offsetsOf(block), 4);
    let i = nextChanged(block, BLOCK_TEXT_CHANGES, 0);
    while (i < count) {
      const entry = entryAt(block, i);
      const offset = oldStart + offsetAt(block, i);
      memory.copy(at, from + copyStart, offset - copyStart);
      at += offset - copyStart;
      copyStart = offset + lengthAt(block, i);
      setOffset(block, i, <u32>(at - to) - start);
      const end = writeValue(load<u64>(cellOf(entry)), opcodeOf(entry), at);
      setLength(block, i, <u32>(end - at));
      at = end;
      const next = nextChanged(block, BLOCK_TEXT_CHANGES, i + 1);
      shiftOffsets(block, i + 1, next, <u32>(at - to) - start - (copyStart - oldStart));
      i = next;
    }
    textWritten(block);
  }
  memory.copy(at, from + copyStart, bytes - copyStart);
  return <u32>(at - to) + (bytes - copyStart);
}

/**
 * Updates the text of a chunk in place if only values changed. The buffer of the text must have room for the longest
 * values. `values` is a scratch buffer of REWRITE_VALUE_BYTES for each changed value. Returns the new length of the text.
 */
export function rewrite(chunk: usize, text: usize, bytes: u32, values: usize): u32 {
  const last = endOf(chunk);
  let at = values;
  let isLonger = false;
  let isShorter = false;
  let shift: i32 = 0;
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES) {
    const block = blockOf(item);
    if (textDirtyFlags(block) == 0) continue;
    const count = countOf(block);
    prefetch(block, BLOCK_TEXT_CHANGES, offsetsOf(block), 4);
    for (
      let i = nextChanged(block, BLOCK_TEXT_CHANGES, 0);
      i < count;
      i = nextChanged(block, BLOCK_TEXT_CHANGES, i + 1)
    ) {
      const entry = entryAt(block, i);
      const length = <u32>(writeValue(load<u64>(cellOf(entry)), opcodeOf(entry), at) - at);
      shift += length - lengthAt(block, i);
      isLonger = isLonger || shift > 0;
      isShorter = isShorter || shift < 0;
      store<u8>(at, <u8>length, LENGTH_OFFSET);
      at += REWRITE_VALUE_BYTES;
    }
  }
  // Move text to the right first, and begin at the end, so that no move overwrites text that must still be moved.
  if (isLonger) moveRight(chunk, text, bytes, at, shift);
  if (isShorter) moveLeft(chunk, text, bytes, values);
  writeValues(chunk, text, values);
  return bytes + shift;
}

/** Moves text between changed values to the right, where necessary. The buffer of values ends at `end`. */
function moveRight(chunk: usize, text: usize, bytes: u32, end: usize, shift: i32): void {
  let at = end;
  let copyEnd = bytes;
  const first = firstOf(chunk);
  for (let item = endOf(chunk) - CHUNK_BLOCK_BYTES; item >= first; item -= CHUNK_BLOCK_BYTES) {
    const block = blockOf(item);
    if (textDirtyFlags(block) == 0) continue;
    const lines = startOf(item);
    for (let i = previousChanged(block, countOf(block)); i != NONE; i = previousChanged(block, i)) {
      at -= REWRITE_VALUE_BYTES;
      const length = lengthAt(block, i);
      const start = lines + offsetAt(block, i) + length;
      if (shift > 0) memory.copy(text + start + shift, text + start, copyEnd - start);
      shift -= <u32>load<u8>(at, LENGTH_OFFSET) - length;
      copyEnd = start - length;
    }
  }
}

/** Moves text between changed values to the left, where necessary. */
function moveLeft(chunk: usize, text: usize, bytes: u32, values: usize): void {
  let at = values;
  let start: u32 = 0;
  let shift: i32 = 0;
  const last = endOf(chunk);
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES) {
    const block = blockOf(item);
    if (textDirtyFlags(block) == 0) continue;
    const count = countOf(block);
    const lines = startOf(item);
    for (
      let i = nextChanged(block, BLOCK_TEXT_CHANGES, 0);
      i < count;
      i = nextChanged(block, BLOCK_TEXT_CHANGES, i + 1)
    ) {
      const length = lengthAt(block, i);
      const offset = lines + offsetAt(block, i);
      if (shift < 0) memory.copy(text + start + shift, text + start, offset - start);
      start = offset + length;
      shift += <u32>load<u8>(at, LENGTH_OFFSET) - length;
      at += REWRITE_VALUE_BYTES;
    }
  }
  if (shift < 0) memory.copy(text + start + shift, text + start, bytes - start);
}

/** Writes the changed values between the moved text. */
function writeValues(chunk: usize, text: usize, values: usize): void {
  let at = values;
  let growth: i32 = 0;
  const last = endOf(chunk);
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES) {
    const block = blockOf(item);
    const start = startOf(item) + growth;
    setStart(item, start);
    if (textDirtyFlags(block) == 0) continue;
    const count = countOf(block);
    let shift: i32 = 0;
    let i = nextChanged(block, BLOCK_TEXT_CHANGES, 0);
    while (i < count) {
      const length = <u32>load<u8>(at, LENGTH_OFFSET);
      const offset = offsetAt(block, i) + shift;
      copyValue(text + start + offset, at, length);
      shift += length - lengthAt(block, i);
      setOffset(block, i, offset);
      setLength(block, i, length);
      const next = nextChanged(block, BLOCK_TEXT_CHANGES, i + 1);
      shiftOffsets(block, i + 1, next, shift);
      i = next;
      at += REWRITE_VALUE_BYTES;
    }
    growth += shift;
    textWritten(block);
  }
}

/**
 * Whether any line has a negative value, or has NaN and a name longer than `nameBytes` bytes. The block may be
 * unsorted.
 */
export function hasNegativeOrNaN(block: usize, nameBytes: u32): bool {
  const entries = entriesOf(block);
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entries + <usize>entryNumberAt(block, i) * ENTRY_BYTES;
    const cell = cellOf(entry);
    if (cell == 0) continue;
    const x = numberOf(load<u64>(cell), opcodeOf(entry) & 0xff);
    if (x < 0 || (x != x && nameLength(entry) > nameBytes)) return true;
  }
  return false;
}

/** The dirty flags of the text of a chunk: the flags of all its blocks together. */
export function dirtyFlags(chunk: usize): u32 {
  let all: u32 = 0;
  const last = endOf(chunk);
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES)
    all |= textDirtyFlags(blockOf(item));
  return all;
}

/** The number of lines of a chunk whose values changed since its text was written. */
export function chunkChanges(chunk: usize): u32 {
  let count: u32 = 0;
  const last = endOf(chunk);
  for (let item = firstOf(chunk); item < last; item += CHUNK_BLOCK_BYTES)
    if (textDirtyFlags(blockOf(item)) != 0) count += changedLines(blockOf(item));
  return count;
}

function firstOf(chunk: usize): usize {
  return chunk + CHUNK_BLOCKS;
}

function endOf(chunk: usize): usize {
  return firstOf(chunk) + <usize>load<u32>(chunk) * CHUNK_BLOCK_BYTES;
}

function blockOf(item: usize): usize {
  return <usize>load<u32>(item);
}

/** The offset of the lines of a block in the text. */
function startOf(item: usize): u32 {
  return load<u32>(item, CHUNK_BLOCK_START);
}

function setStart(item: usize, start: u32): void {
  store<u32>(item, start, CHUNK_BLOCK_START);
}

/** Adds `bytes` to the offsets of the values of these lines. */
function shiftOffsets(block: usize, index: u32, end: u32, bytes: i32): void {
  if (bytes == 0) return;
  const by = i32x4.splat(bytes);
  let at = offsetsOf(block) + ((<usize>index) << 2);
  for (; index + 4 <= end; index += 4, at += 16) v128.store(at, i32x4.add(v128.load(at), by));
  for (; index < end; index++, at += 4) store<u32>(at, load<u32>(at) + bytes);
}

/** The offset of a line's value in the last text. */
function offsetAt(block: usize, index: u32): u32 {
  return load<u32>(offsetsOf(block) + ((<usize>index) << 2));
}

function setOffset(block: usize, index: u32, offset: u32): void {
  store<u32>(offsetsOf(block) + ((<usize>index) << 2), offset);
}

/** The length of a line's value in the last text. */
function lengthAt(block: usize, index: u32): u32 {
  return <u32>load<u8>(lengthsOf(block) + <usize>index);
}

function setLength(block: usize, index: u32, length: u32): void {
  store<u8>(lengthsOf(block) + <usize>index, <u8>length);
}

/** The index of the last line before `index` whose value changed; `NONE` if there is none. */
function previousChanged(block: usize, index: u32): u32 {
  while (index > 0) {
    index--;
    const rest =
      load<u32>(block + BLOCK_TEXT_CHANGES + ((<usize>(index >> 5)) << 2)) << (31 - (index & 31));
    if (rest != 0) return index - <u32>clz<u32>(rest);
    index &= ~31;
  }
  return NONE;
}

/** Copies up to 32 bytes, and overwrites nothing after them. */
function copyValue(to: usize, from: usize, bytes: u32): void {
  let i: usize = 0;
  for (; i + 8 <= <usize>bytes; i += 8) store<u64>(to + i, load<u64>(from + i));
  for (; i < <usize>bytes; i++) store<u8>(to + i, load<u8>(from + i));
}

/**
 * Copies a short text, 16 bytes at a time: it overwrites up to 16 bytes after the text, and reads up to 16 bytes after
 * its source. In shared memory, `memory.copy` would be a call to the host, which takes longer.
 */
function copyText(to: usize, from: usize, bytes: u32): void {
  const end = to + <usize>bytes;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}

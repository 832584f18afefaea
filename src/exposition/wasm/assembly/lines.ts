// Writes the lines of a block as text.
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
import { BLOCK_TEXT_CHANGES, ENTRY_BYTES, LINES_CHANGED } from '../layout';
import { numberOf, writeValue } from './values';

/**
 * Whether to write all lines of a block: if lines changed, or the values of more than a quarter of them. Otherwise,
 * copying the last text is faster.
 */
export function writesAll(block: usize): bool {
  return (textDirtyFlags(block) & LINES_CHANGED) != 0 || changedLines(block) * 4 > countOf(block);
}

/**
 * Writes the lines of a sorted block to `to`; returns the bytes written. Copies all but the changed values from the last
 * text, which has `bytes` bytes at `from`. If `from` is 0, writes all lines.
 */
export function render(block: usize, from: usize, bytes: u32, to: usize): u32 {
  const end = from == 0 ? renderAll(block, to) : renderChanged(block, from, bytes, to);
  textWritten(block);
  return <u32>(end - to);
}

/** Writes all lines of a block to `to`; returns the address after them. */
function renderAll(block: usize, to: usize): usize {
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
  return at;
}

/** Writes the changed values to `to`, and copies the text between them; returns the address after the lines. */
function renderChanged(block: usize, from: usize, bytes: u32, to: usize): usize {
  let at = to;
  let copyStart: u32 = 0;
  const count = countOf(block);
  if (textDirtyFlags(block) != 0) prefetch(block, BLOCK_TEXT_CHANGES, offsetsOf(block), 4);
  let i = nextChanged(block, BLOCK_TEXT_CHANGES, 0);
  while (i < count) {
    const entry = entryAt(block, i);
    const offset = load<u32>(offsetAt(block, i));
    memory.copy(at, from + copyStart, offset - copyStart);
    at += offset - copyStart;
    const length = lengthsOf(block) + <usize>i;
    copyStart = offset + <u32>load<u8>(length);
    store<u32>(offsetAt(block, i), <u32>(at - to));
    const end = writeValue(load<u64>(cellOf(entry)), opcodeOf(entry), at);
    store<u8>(length, <u8>(end - at));
    at = end;
    const next = nextChanged(block, BLOCK_TEXT_CHANGES, i + 1);
    shiftOffsets(block, i + 1, next, <u32>(at - to) - copyStart);
    i = next;
  }
  memory.copy(at, from + copyStart, bytes - copyStart);
  return at + (bytes - copyStart);
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

/** Adds `bytes` to the offsets of the values of these lines. */
function shiftOffsets(block: usize, index: u32, end: u32, bytes: i32): void {
  if (bytes == 0) return;
  const by = i32x4.splat(bytes);
  let at = offsetAt(block, index);
  for (; index + 4 <= end; index += 4, at += 16) v128.store(at, i32x4.add(v128.load(at), by));
  for (; index < end; index++, at += 4) store<u32>(at, load<u32>(at) + bytes);
}

/** The address of the offset of a line's value in the last text. */
function offsetAt(block: usize, index: u32): usize {
  return offsetsOf(block) + ((<usize>index) << 2);
}

/** Copies bytes; both ranges may overlap. `copyWithin` of an array in shared memory takes 30 times as long. */
export function copy(to: usize, from: usize, bytes: usize): void {
  memory.copy(to, from, bytes);
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

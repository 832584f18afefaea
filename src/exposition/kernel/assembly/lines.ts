// Writes lines of exposition text.
import { writeValue } from './values';

// A line of a block, 32 bytes; ../line-table.ts writes it.
//
//   0         4         8        12    16          24        28     32
//   +---------+---------+--------+-----+-----------+---------+------+
//   | text at | text    | value  | op  | last bits | length  | spare|
//   | u32     | len u32 | at u32 | u32 | u64       | u32     |      |
//   +---------+---------+--------+-----+-----------+---------+------+
//
// `value at` 0 means that the text is the whole line. `length` is the length of the value written
// last.
export const LINE: usize = 32;

/** True if any line of a table has a value that differs from the one written last. */
export function isDirty(table: usize, count: u32): bool {
  const end = table + <usize>count * LINE;
  for (let line = table; line < end; line += LINE) {
    const value = <usize>load<u32>(line, 8);
    if (value != 0 && load<u64>(value) != load<u64>(line, 16)) return true;
  }
  return false;
}

/** Writes all lines of a table to `to`; returns the bytes written. */
export function renderAll(table: usize, count: u32, to: usize): u32 {
  let at = to;
  const end = table + <usize>count * LINE;
  for (let line = table; line < end; line += LINE) at = writeLine(line, at);
  return <u32>(at - to);
}

/** Rewrites changed lines and copies the spans between them from the last text at `from`. */
export function renderChanged(table: usize, count: u32, from: usize, to: usize): u32 {
  let at = to;
  let span = from;
  let read = from;
  const end = table + <usize>count * LINE;
  for (let line = table; line < end; line += LINE) {
    const value = <usize>load<u32>(line, 8);
    const length = <usize>load<u32>(line, 24);
    if (value == 0 || load<u64>(value) == load<u64>(line, 16)) {
      read += length;
      continue;
    }
    if (read > span) {
      memory.copy(at, span, read - span);
      at += read - span;
    }
    at = writeLine(line, at);
    read += length;
    span = read;
  }
  if (read > span) {
    memory.copy(at, span, read - span);
    at += read - span;
  }
  return <u32>(at - to);
}

function writeLine(line: usize, to: usize): usize {
  const bytes = <usize>load<u32>(line, 4);
  memory.copy(to, <usize>load<u32>(line), bytes);
  let at = to + bytes;
  const value = <usize>load<u32>(line, 8);
  if (value != 0) {
    const bits = load<u64>(value);
    store<u64>(line, bits, 16);
    at = writeValue(bits, load<u32>(line, 12), at);
    store<u8>(at, 0x0a);
    at++;
  }
  store<u32>(line, <u32>(at - to), 24);
  return at;
}

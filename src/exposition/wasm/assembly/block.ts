// A block of lines, as ../line-table.ts lays it out.

import * as layout from '../layout';

const ENTRY_BITS: u32 = layout.ENTRY_BITS;
export const MAX_LINES: u32 = layout.MAX_LINES;
const PREFETCH_RESULT: usize = layout.PREFETCH_RESULT_AT;
const CHANGES_BYTES: usize = MAX_LINES / 8;

// The header of a block has 552 bytes. An entry keeps its position while its line is in the block. `order` lists
// the entries in the order of the lines; the block is sorted if line i is entry i. Two bitmaps mark the entries whose
// values changed since the text or the deflate block was written. `text` and `deflate` are the dirty flags of text and
// deflate block, u16 each, since two threads may write them at the same time.
//
//   0         4       8       12     14       16        20        24       28       32         36         40         296        552
//   +---------+-------+-------+------+--------+---------+---------+--------+--------+----------+----------+----------+----------+
//   | entries | order | count | text | deflate| sorted  | records | line   | groups | capacity | totals   | changes  | changes  |
//   | at      | at    |       | dirty flags   | order   | at      |distance| at     | in lines | at       | of text  | deflate  |
//   +---------+-------+-------+------+--------+---------+---------+--------+--------+----------+----------+----------+----------+
export const TEXT_CHANGES: usize = layout.CHANGES_OFFSET;
export const DEFLATE_CHANGES: usize = TEXT_CHANGES + CHANGES_BYTES;
/** Dirty flags: a value changed, or lines were added or removed. */
const VALUES_CHANGED: u16 = 1;
const LINES_CHANGED: u16 = 2;

// The arrays of a block, each with the capacity of the block:
//
//   +------------+--------------+-------------+---------------+----------+--------------+
//   | keys of    | entries of   | series      | values'       | order    | values'      |
//   | 16 bytes   | 20 bytes     | indexes u32 | offsets u32   | u16      | lengths u8   |
//   +------------+--------------+-------------+---------------+----------+--------------+
//
// The offsets and lengths of values are by the line's index, and describe the last text. The offsets are contiguous:
// when the length of a value changes, all later offsets change. An entry:
//
//   0         4           8         12       16        20
//   +---------+-----------+---------+--------+---------+
//   | name at | labels at | cell at | opcode | next    |
//   | u32     | u32       | u32     | u32    | line id |
//   +---------+-----------+---------+--------+---------+
//
// A line is its name, its labels with a space, the value of its cell, and a line feed. Without a cell, the text of
// its labels includes the constant value and the line feed.
export const ENTRY: usize = layout.ENTRY_BYTES;

// A text: its reference count u32, its length u32, its bytes.
const BYTES: usize = 8;

// A cell, 16 bytes: a value u64, its word u32, and the id of the first line that shows it u32.
//
// A line id is a block number and an entry number. The lines of a cell are a linked list: `next` of an entry is the
// id of the next line, with the highest bit set if there is one. The table at BLOCKS_POINTER holds the
// header address of each block.
export const CELL: usize = layout.CELL_BYTES;
const KEY: usize = layout.KEY_BYTES;
const BLOCKS_POINTER: usize = layout.BLOCKS_POINTER;
const ENTRY_MASK: u32 = MAX_LINES - 1;
const BLOCK_MASK: u32 = (1 << (31 - ENTRY_BITS)) - 1;
const HAS_NEXT: u32 = 0x80000000;

export function entriesOf(block: usize): usize {
  return <usize>load<u32>(block);
}

export function countOf(block: usize): u32 {
  return load<u32>(block, 8);
}

function capacityOf(block: usize): usize {
  return <usize>load<u32>(block, 32);
}

/** The address of the offsets of all values in the last text. */
export function offsetsOf(block: usize): usize {
  return <usize>load<u32>(block, 4) - (capacityOf(block) << 2);
}

/** The address of the lengths of all values in the last text. */
export function lengthsOf(block: usize): usize {
  return <usize>load<u32>(block, 4) + (capacityOf(block) << 1);
}

/** The number of the entry of the line at an index. */
export function entryNumberAt(block: usize, index: u32): u32 {
  return <u32>load<u16>(<usize>load<u32>(block, 4) + ((<usize>index) << 1));
}

/** The entry of the line at an index, in a sorted block. */
export function entryAt(block: usize, index: u32): usize {
  return entriesOf(block) + <usize>index * ENTRY;
}

export function nameOf(entry: usize): usize {
  return <usize>load<u32>(entry) + BYTES;
}

export function nameLength(entry: usize): u32 {
  return load<u32>(<usize>load<u32>(entry), 4);
}

export function labelsOf(entry: usize): usize {
  return <usize>load<u32>(entry, 4) + BYTES;
}

export function labelsLength(entry: usize): u32 {
  return load<u32>(<usize>load<u32>(entry, 4), 4);
}

export function cellOf(entry: usize): usize {
  return <usize>load<u32>(entry, 8);
}

export function opcodeOf(entry: usize): u32 {
  return load<u32>(entry, 12);
}

/** The index of the next line whose value changed, from `index` on; the count if there is none. */
export function nextChanged(block: usize, changes: usize, index: u32): u32 {
  const bits = block + changes;
  const count = countOf(block);
  while (index < count) {
    const rest = load<u32>(bits + ((<usize>(index >> 5)) << 2)) >> (index & 31);
    if (rest != 0) return min(count, index + ctz<u32>(rest));
    index = (index | 31) + 1;
  }
  return count;
}

/** If more than this many of 32 lines changed, the processor prefetches by itself. */
const SCATTERED: u32 = 8;

/**
 * Prefetches the changed lines, so that their cache misses overlap. For each line it reads the entry, the value, and the
 * line's element in `array`, whose elements have `size` bytes.
 */
export function prefetch(block: usize, changes: usize, array: usize, size: usize): void {
  const bits = block + changes;
  const count = countOf(block);
  let all: u32 = 0;
  for (let first: u32 = 0; first < count; first += 32) {
    let rest = load<u32>(bits + ((<usize>(first >> 5)) << 2));
    if (<u32>popcnt<u32>(rest) > SCATTERED) continue;
    for (; rest != 0; rest &= rest - 1) {
      const index = first + ctz<u32>(rest);
      const cell = cellOf(entryAt(block, index));
      if (cell != 0) all ^= load<u32>(cell);
      all ^= load<u32>(array + <usize>index * size);
    }
  }
  store<u32>(PREFETCH_RESULT, all);
}

/** The number of lines whose values changed since the text was written. */
export function changedLines(block: usize): u32 {
  const from = block + TEXT_CHANGES;
  let count: u32 = 0;
  for (let at = from; at < from + CHANGES_BYTES; at += 8) count += <u32>popcnt<u64>(load<u64>(at));
  return count;
}

/** The dirty flags of the text; 0 if it is current. */
export function textDirtyFlags(block: usize): u16 {
  return load<u16>(block, 12);
}

/** Marks the text as current. */
export function textWritten(block: usize): void {
  memory.fill(block + TEXT_CHANGES, 0, CHANGES_BYTES);
  store<u16>(block, 0, 12);
}

/** Marks the deflate block as current. */
export function deflateWritten(block: usize): void {
  memory.fill(block + DEFLATE_CHANGES, 0, CHANGES_BYTES);
  store<u16>(block, 0, 14);
}

function headerOf(number: u32): usize {
  return <usize>load<u32>(<usize>load<u32>(BLOCKS_POINTER) + ((<usize>number) << 2));
}

/** Marks all lines of a cell as changed. */
export function markDirty(cell: usize): void {
  let line = load<u32>(cell, 12);
  while (line != 0) {
    const block = headerOf((line >> ENTRY_BITS) & BLOCK_MASK);
    const entry = line & ENTRY_MASK;
    const at = block + ((<usize>(entry >> 5)) << 2);
    const bit: u32 = 1 << (entry & 31);
    store<u32>(at, load<u32>(at, TEXT_CHANGES) | bit, TEXT_CHANGES);
    store<u32>(at, load<u32>(at, DEFLATE_CHANGES) | bit, DEFLATE_CHANGES);
    store<u16>(block, load<u16>(block, 12) | VALUES_CHANGED, 12);
    store<u16>(block, VALUES_CHANGED, 14);
    if ((line & HAS_NEXT) == 0) return;
    line = load<u32>(entriesOf(block) + <usize>entry * ENTRY, 16);
  }
}

/**
 * Inserts a line at an index, in a free entry of a block that is not full. Adds a reference to its name and labels,
 * and adds `lineId` to the list of its cell. Returns the bytes of name and labels.
 */
export function insert(
  block: usize,
  index: u32,
  entry: u32,
  lineId: u32,
  nodeId: f64,
  seriesIndex: u32,
  hash: f64,
  name: usize,
  labels: usize,
  cell: usize,
  opcode: u32,
): u32 {
  const entries = entriesOf(block);
  const count = countOf(block);
  const place = <usize>load<u32>(block, 4) + ((<usize>index) << 1);
  if (index < count) memory.copy(place + 2, place, (<usize>(count - index)) << 1);
  store<u16>(place, <u16>entry);
  if (entry != index || index != count) store<u32>(block, 0, 16);
  store<u32>(block, count + 1, 8);
  store<u16>(block, VALUES_CHANGED | LINES_CHANGED, 12);
  store<u16>(block, VALUES_CHANGED, 14);
  const capacity = capacityOf(block);
  const key = entries - (capacity - <usize>entry) * KEY;
  store<f64>(key, nodeId);
  store<f64>(key, hash, 8);
  store<u32>(entries + capacity * ENTRY + ((<usize>entry) << 2), seriesIndex);
  const at = entries + <usize>entry * ENTRY;
  store<u32>(at, <u32>name);
  store<u32>(at, <u32>labels, 4);
  store<u32>(at, <u32>cell, 8);
  store<u32>(at, opcode, 12);
  store<u32>(name, load<u32>(name) + 1);
  store<u32>(labels, load<u32>(labels) + 1);
  if (cell != 0) {
    const first = load<u32>(cell, 12);
    store<u32>(at, first, 16);
    store<u32>(cell, first == 0 ? lineId : lineId | HAS_NEXT, 12);
  }
  return load<u32>(name, 4) + load<u32>(labels, 4);
}

/**
 * Copies the entries of a block with their keys and series indexes from one address to another, in the order of the
 * lines. Changes the block number in the lists of the cells. The caller updates the header.
 */
export function sort(block: usize, oldNumber: u32, newNumber: u32, from: usize, to: usize): void {
  const keys = capacityOf(block) * KEY;
  const seriesIndexes = keys + capacityOf(block) * ENTRY;
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryNumberAt(block, i);
    memory.copy(to + <usize>i * KEY, from + <usize>entry * KEY, KEY);
    const moved = to + keys + <usize>i * ENTRY;
    memory.copy(moved, from + keys + <usize>entry * ENTRY, ENTRY);
    store<u32>(
      to + seriesIndexes + ((<usize>i) << 2),
      load<u32>(from + seriesIndexes + ((<usize>entry) << 2)),
    );
    const cell = cellOf(moved);
    if (cell == 0) continue;
    let at = cell + 12;
    let line = load<u32>(at);
    while ((line & ~HAS_NEXT) != ((oldNumber << ENTRY_BITS) | entry)) {
      const number = (line >> ENTRY_BITS) & BLOCK_MASK;
      const entries =
        number == oldNumber
          ? from + keys
          : number == newNumber
            ? to + keys
            : entriesOf(headerOf(number));
      at = entries + <usize>(line & ENTRY_MASK) * ENTRY + 16;
      line = load<u32>(at);
    }
    store<u32>(at, (line & HAS_NEXT) | (newNumber << ENTRY_BITS) | i);
  }
}

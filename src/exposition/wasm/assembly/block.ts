// A block of lines, as ../layout.ts draws it.
import {
  BLOCKS_POINTER,
  BLOCK_CAPACITY,
  BLOCK_COUNT,
  BLOCK_DEFLATE_CHANGES,
  BLOCK_DEFLATE_DIRTY,
  BLOCK_ENTRIES,
  BLOCK_IS_SORTED,
  BLOCK_ORDER,
  BLOCK_TEXT_CHANGES,
  BLOCK_TEXT_DIRTY,
  CELL_LINE,
  CHANGES_BYTES,
  ENTRY_BITS,
  ENTRY_BYTES,
  ENTRY_CELL,
  ENTRY_LABELS,
  ENTRY_NAME,
  ENTRY_NEXT,
  ENTRY_OPCODE,
  HAS_NEXT,
  KEY_BYTES,
  KEY_HASH,
  LINES_CHANGED,
  MAX_LINES,
  ORDER_BYTES,
  PREFETCH_RESULT_AT,
  SERIES_INDEX_BYTES,
  TEXT_CONTENT,
  TEXT_LENGTH,
  VALUES_CHANGED,
  VALUE_OFFSET_BYTES,
} from '../layout';

const ENTRY_MASK: u32 = MAX_LINES - 1;
const BLOCK_MASK: u32 = (1 << (31 - ENTRY_BITS)) - 1;

export function entriesOf(block: usize): usize {
  return <usize>load<u32>(block, BLOCK_ENTRIES);
}

export function countOf(block: usize): u32 {
  return load<u32>(block, BLOCK_COUNT);
}

function capacityOf(block: usize): usize {
  return <usize>load<u32>(block, BLOCK_CAPACITY);
}

function orderOf(block: usize): usize {
  return <usize>load<u32>(block, BLOCK_ORDER);
}

/** The address of the array that has the offset of each value in the last text. */
export function offsetsOf(block: usize): usize {
  return orderOf(block) - capacityOf(block) * VALUE_OFFSET_BYTES;
}

/** The address of the array that has the length of each value in the last text. */
export function lengthsOf(block: usize): usize {
  return orderOf(block) + capacityOf(block) * ORDER_BYTES;
}

/** The entry number of the line at an index. */
export function entryNumberAt(block: usize, index: u32): u32 {
  return <u32>load<u16>(orderOf(block) + <usize>index * ORDER_BYTES);
}

/** The entry of the line at an index, in a sorted block. */
export function entryAt(block: usize, index: u32): usize {
  return entriesOf(block) + <usize>index * ENTRY_BYTES;
}

export function nameOf(entry: usize): usize {
  return <usize>load<u32>(entry, ENTRY_NAME) + TEXT_CONTENT;
}

export function nameLength(entry: usize): u32 {
  return load<u32>(<usize>load<u32>(entry, ENTRY_NAME), TEXT_LENGTH);
}

export function labelsOf(entry: usize): usize {
  return <usize>load<u32>(entry, ENTRY_LABELS) + TEXT_CONTENT;
}

export function labelsLength(entry: usize): u32 {
  return load<u32>(<usize>load<u32>(entry, ENTRY_LABELS), TEXT_LENGTH);
}

export function cellOf(entry: usize): usize {
  return <usize>load<u32>(entry, ENTRY_CELL);
}

export function opcodeOf(entry: usize): u32 {
  return load<u32>(entry, ENTRY_OPCODE);
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
  store<u32>(PREFETCH_RESULT_AT, all);
}

/** The number of lines whose values changed since the text was written. */
export function changedLines(block: usize): u32 {
  const from = block + BLOCK_TEXT_CHANGES;
  let count: u32 = 0;
  for (let at = from; at < from + CHANGES_BYTES; at += 8) count += <u32>popcnt<u64>(load<u64>(at));
  return count;
}

/** The dirty flags of the text; 0 if it is current. */
export function textDirtyFlags(block: usize): u32 {
  return load<u32>(block, BLOCK_TEXT_DIRTY);
}

/** Marks the text as current. */
export function textWritten(block: usize): void {
  memory.fill(block + BLOCK_TEXT_CHANGES, 0, CHANGES_BYTES);
  store<u32>(block, 0, BLOCK_TEXT_DIRTY);
}

function headerOf(number: u32): usize {
  return <usize>load<u32>(<usize>load<u32>(BLOCKS_POINTER) + ((<usize>number) << 2));
}

/** Marks all lines of a cell as changed. */
export function markDirty(cell: usize): void {
  let line = load<u32>(cell, CELL_LINE);
  while (line != 0) {
    const block = headerOf((line >> ENTRY_BITS) & BLOCK_MASK);
    const entry = line & ENTRY_MASK;
    const at = block + ((<usize>(entry >> 5)) << 2);
    const bit: u32 = 1 << (entry & 31);
    store<u32>(at, load<u32>(at, BLOCK_TEXT_CHANGES) | bit, BLOCK_TEXT_CHANGES);
    store<u32>(at, load<u32>(at, BLOCK_DEFLATE_CHANGES) | bit, BLOCK_DEFLATE_CHANGES);
    store<u32>(block, load<u32>(block, BLOCK_TEXT_DIRTY) | VALUES_CHANGED, BLOCK_TEXT_DIRTY);
    store<u32>(block, load<u32>(block, BLOCK_DEFLATE_DIRTY) | VALUES_CHANGED, BLOCK_DEFLATE_DIRTY);
    if ((line & HAS_NEXT) == 0) return;
    line = load<u32>(entriesOf(block) + <usize>entry * ENTRY_BYTES, ENTRY_NEXT);
  }
}

/**
 * Inserts a line at an index, in a free entry of a block that is not full. Adds a reference to the name and one to
 * the labels, and adds `lineId` to the list of the line's cell. Returns the bytes of name and labels.
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
  const place = orderOf(block) + <usize>index * ORDER_BYTES;
  if (index < count) memory.copy(place + ORDER_BYTES, place, <usize>(count - index) * ORDER_BYTES);
  store<u16>(place, <u16>entry);
  if (entry != index || index != count) store<u32>(block, 0, BLOCK_IS_SORTED);
  store<u32>(block, count + 1, BLOCK_COUNT);
  store<u32>(block, LINES_CHANGED, BLOCK_TEXT_DIRTY);
  store<u32>(block, LINES_CHANGED, BLOCK_DEFLATE_DIRTY);
  const capacity = capacityOf(block);
  const key = entries - (capacity - <usize>entry) * KEY_BYTES;
  store<f64>(key, nodeId);
  store<f64>(key, hash, KEY_HASH);
  store<u32>(entries + capacity * ENTRY_BYTES + <usize>entry * SERIES_INDEX_BYTES, seriesIndex);
  const at = entries + <usize>entry * ENTRY_BYTES;
  store<u32>(at, <u32>name, ENTRY_NAME);
  store<u32>(at, <u32>labels, ENTRY_LABELS);
  store<u32>(at, <u32>cell, ENTRY_CELL);
  store<u32>(at, opcode, ENTRY_OPCODE);
  store<u32>(name, load<u32>(name) + 1);
  store<u32>(labels, load<u32>(labels) + 1);
  if (cell != 0) {
    const first = load<u32>(cell, CELL_LINE);
    store<u32>(at, first, ENTRY_NEXT);
    store<u32>(cell, first == 0 ? lineId : lineId | HAS_NEXT, CELL_LINE);
  }
  return load<u32>(name, TEXT_LENGTH) + load<u32>(labels, TEXT_LENGTH);
}

/**
 * Copies the entries of a block with their keys and series indexes from one address to another, in the order of the
 * lines. Updates the line ids in the lists of the cells. The caller updates the header.
 */
export function sort(block: usize, oldNumber: u32, newNumber: u32, from: usize, to: usize): void {
  const keys = capacityOf(block) * KEY_BYTES;
  const seriesIndexes = keys + capacityOf(block) * ENTRY_BYTES;
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryNumberAt(block, i);
    memory.copy(to + <usize>i * KEY_BYTES, from + <usize>entry * KEY_BYTES, KEY_BYTES);
    const moved = to + keys + <usize>i * ENTRY_BYTES;
    memory.copy(moved, from + keys + <usize>entry * ENTRY_BYTES, ENTRY_BYTES);
    store<u32>(
      to + seriesIndexes + <usize>i * SERIES_INDEX_BYTES,
      load<u32>(from + seriesIndexes + <usize>entry * SERIES_INDEX_BYTES),
    );
    const cell = cellOf(moved);
    if (cell == 0) continue;
    let at = cell + CELL_LINE;
    let line = load<u32>(at);
    while ((line & ~HAS_NEXT) != ((oldNumber << ENTRY_BITS) | entry)) {
      const number = (line >> ENTRY_BITS) & BLOCK_MASK;
      const entries =
        number == oldNumber
          ? from + keys
          : number == newNumber
            ? to + keys
            : entriesOf(headerOf(number));
      at = entries + <usize>(line & ENTRY_MASK) * ENTRY_BYTES + ENTRY_NEXT;
      line = load<u32>(at);
    }
    store<u32>(at, (line & HAS_NEXT) | (newNumber << ENTRY_BITS) | i);
  }
}

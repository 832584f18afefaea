// Blocks of lines and the cells of their values, as ../layout.ts draws them.
import {
  BLOCKS_POINTER,
  BLOCK_CAPACITY,
  BLOCK_COUNT,
  BLOCK_DEFLATE_CHANGES,
  BLOCK_DEFLATE_DIRTY,
  BLOCK_ENTRIES,
  BLOCK_IS_SORTED,
  BLOCK_MESSAGES_CHANGES,
  BLOCK_MESSAGES_DIRTY,
  BLOCK_ORDER,
  BLOCK_TEXT_CHANGES,
  BLOCK_TEXT_DIRTY,
  CELL_BYTES,
  CELL_LINE,
  CELL_WORD,
  CHANGED_WORDS_AT,
  CHANGES_BYTES,
  ENTRY_BITS,
  ENTRY_BYTES,
  ENTRY_CELL,
  ENTRY_HASH,
  ENTRY_LABELS,
  ENTRY_NAME,
  ENTRY_NEXT,
  ENTRY_OPCODE,
  ENTRY_SERIES_INDEX,
  HAS_NEXT,
  LINES_CHANGED,
  MAX_LINES,
  ORDER_BYTES,
  PREFETCH_RESULT_AT,
  TEXT_CONTENT,
  TEXT_LENGTH,
  VALUES_CHANGED,
  VALUE_OFFSET_BYTES,
} from '../layout';

const ENTRY_MASK: u32 = MAX_LINES - 1;

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
    const block = headerOf(blockNumberOf(line));
    const entry = line & ENTRY_MASK;
    const at = block + ((<usize>(entry >> 5)) << 2);
    const bit: u32 = 1 << (entry & 31);
    store<u32>(at, load<u32>(at, BLOCK_TEXT_CHANGES) | bit, BLOCK_TEXT_CHANGES);
    store<u32>(at, load<u32>(at, BLOCK_DEFLATE_CHANGES) | bit, BLOCK_DEFLATE_CHANGES);
    store<u32>(block, load<u32>(block, BLOCK_TEXT_DIRTY) | VALUES_CHANGED, BLOCK_TEXT_DIRTY);
    store<u32>(at, load<u32>(at, BLOCK_MESSAGES_CHANGES) | bit, BLOCK_MESSAGES_CHANGES);
    store<u32>(block, load<u32>(block, BLOCK_DEFLATE_DIRTY) | VALUES_CHANGED, BLOCK_DEFLATE_DIRTY);
    const messages = load<u32>(block, BLOCK_MESSAGES_DIRTY);
    store<u32>(block, messages | VALUES_CHANGED, BLOCK_MESSAGES_DIRTY);
    if ((line & HAS_NEXT) == 0) return;
    line = load<u32>(nextAt(entriesOf(block), line));
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
  const count = countOf(block);
  const position = orderOf(block) + <usize>index * ORDER_BYTES;
  if (index < count)
    memory.copy(position + ORDER_BYTES, position, <usize>(count - index) * ORDER_BYTES);
  store<u16>(position, <u16>entry);
  if (entry != index || index != count) store<u32>(block, 0, BLOCK_IS_SORTED);
  store<u32>(block, count + 1, BLOCK_COUNT);
  store<u32>(block, LINES_CHANGED, BLOCK_TEXT_DIRTY);
  store<u32>(block, LINES_CHANGED, BLOCK_DEFLATE_DIRTY);
  store<u32>(block, LINES_CHANGED, BLOCK_MESSAGES_DIRTY);
  const at = entriesOf(block) + <usize>entry * ENTRY_BYTES;
  store<f64>(at, nodeId);
  store<f64>(at, hash, ENTRY_HASH);
  store<u32>(at, seriesIndex, ENTRY_SERIES_INDEX);
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
 * Copies the entries of a block from one address to another, in the order of the lines. Updates the line ids in the
 * lists of the cells. The caller updates the header. The block takes a new number, since the list of a cell may have
 * several lines of the block: the number in an id tells whether to look for the entry at `from` or at `to`.
 */
export function sort(block: usize, oldNumber: u32, newNumber: u32, from: usize, to: usize): void {
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const entry = entryNumberAt(block, i);
    const moved = to + <usize>i * ENTRY_BYTES;
    memory.copy(moved, from + <usize>entry * ENTRY_BYTES, ENTRY_BYTES);
    const cell = cellOf(moved);
    if (cell == 0) continue;
    let at = cell + CELL_LINE;
    let line = load<u32>(at);
    while ((line & ~HAS_NEXT) != ((oldNumber << ENTRY_BITS) | entry)) {
      const number = blockNumberOf(line);
      at = nextAt(
        number == oldNumber ? from : number == newNumber ? to : entriesOf(headerOf(number)),
        line,
      );
      line = load<u32>(at);
    }
    store<u32>(at, (line & HAS_NEXT) | (newNumber << ENTRY_BITS) | i);
  }
}

/** Replaces a line id in the list of a cell; a `newId` of 0 removes it. */
export function relink(cell: usize, lineId: u32, newId: u32): void {
  let at = cell + CELL_LINE;
  let line = load<u32>(at);
  while ((line & ~HAS_NEXT) != lineId) {
    if ((line & HAS_NEXT) == 0) return;
    at = nextAt(entriesOf(headerOf(blockNumberOf(line))), line);
    line = load<u32>(at);
  }
  if (newId != 0) store<u32>(at, (line & HAS_NEXT) | newId);
  else if ((line & HAS_NEXT) == 0) store<u32>(at, 0);
  else store<u32>(at, load<u32>(nextAt(entriesOf(headerOf(blockNumberOf(line))), line)));
}

function blockNumberOf(lineId: u32): u32 {
  return (lineId & ~HAS_NEXT) >> ENTRY_BITS;
}

/** The address of the link from a line to the next line of its cell. */
function nextAt(entries: usize, lineId: u32): usize {
  return entries + <usize>(lineId & ENTRY_MASK) * ENTRY_BYTES + ENTRY_NEXT;
}

/** A mask for the words of two cells, without the line ids. */
const WORDS: v128 = i32x4(-1, 0, -1, 0);

/**
 * Stores the values and words that differ from their cells, and marks the lines of changed values. Returns the number
 * of changed cells. `out` receives the indexes of changed words, u32 each; CHANGED_WORDS_AT holds their number.
 */
export function storeChanged(
  cells: usize,
  values: usize,
  words: usize,
  count: u32,
  out: usize,
): u32 {
  let changed: u32 = 0;
  store<u32>(CHANGED_WORDS_AT, 0);
  let i: u32 = 0;
  for (let cell = cells; i + 2 <= count; i += 2, cell += 2 * CELL_BYTES) {
    const first = v128.load(cell);
    const second = v128.load(cell, CELL_BYTES);
    const held = v128.shuffle<u64>(first, second, 0, 2);
    const heldWords = v128.shuffle<u64>(first, second, 1, 3);
    const ofValues = v128.xor(held, v128.load(values + ((<usize>i) << 3)));
    const ofWords = v128.xor(heldWords, v128.load_ext<u32>(words + ((<usize>i) << 2)));
    if (!v128.any_true(v128.or(ofValues, v128.and(ofWords, WORDS)))) continue;
    changed += storeOne(cells, values, words, i, out) + storeOne(cells, values, words, i + 1, out);
  }
  return i == count ? changed : changed + storeOne(cells, values, words, i, out);
}

/** Does the same as `storeChanged` for one cell; returns 1 if it differs, else 0. */
function storeOne(cells: usize, values: usize, words: usize, index: u32, out: usize): u32 {
  const cell = cells + <usize>index * CELL_BYTES;
  const bits = load<u64>(values + ((<usize>index) << 3));
  const word = load<u32>(words + ((<usize>index) << 2));
  const isSame = bits == load<u64>(cell);
  if (!isSame) {
    store<u64>(cell, bits);
    markDirty(cell);
  }
  if (word == load<u32>(cell, CELL_WORD)) return isSame ? 0 : 1;
  store<u32>(cell, word, CELL_WORD);
  const changedWords = load<u32>(CHANGED_WORDS_AT);
  store<u32>(out + ((<usize>changedWords) << 2), index);
  store<u32>(CHANGED_WORDS_AT, changedWords + 1);
  return 1;
}

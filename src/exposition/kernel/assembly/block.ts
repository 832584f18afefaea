// A block of lines, as ../line-table.ts lays it out.

// Its header, 288 bytes. Rows stay where they are while their line is in the block; `order` has the
// rows of the lines in their order, and is trivial if line i is row i. A bit a row says that its value
// changed since the text or the stream was written.
//
//   0      4       8       12      16        20        24       28       32         160          288
//   +------+-------+-------+-------+---------+---------+--------+--------+----------+------------+
//   | rows | order | count | stale | trivial | records | period | groups | of text  | of stream  |
//   | at   | at    |       | forms | order   | at      |        | at     | 32 × u32 | 32 × u32   |
//   +------+-------+-------+-------+---------+---------+--------+--------+----------+------------+
export const TEXT_CHANGES: usize = 32;
export const STREAM_CHANGES: usize = 160;
const TEXT_STALE: u32 = 1;
const STREAM_STALE: u32 = 2;

// A row, 28 bytes:
//
//   0         4           8         12    16        20             24          28
//   +---------+-----------+---------+-----+---------+--------------+-----------+
//   | name at | labels at | cell at | op  | next    | value's      | value's   |
//   | u32     | u32       | u32     | u32 | line u32| offset u32   | bytes u8  |
//   +---------+-----------+---------+-----+---------+--------------+-----------+
//
// A line is its name, its labels with a blank, the value of its cell and a line feed. Without a cell
// the labels hold the rest of the line. Offset and length are those of the value in the text that was
// written last.
export const ROW: usize = 28;

// A text: the number of its holders u32, its length u32, its bytes.
const BYTES: usize = 8;

// A cell, 16 bytes: a value u64, the word beside it u32, and the first line that shows it u32.
//
// A line is known by its block's number and its row; `next` of its row is the next line of the same
// cell. The address of a block's header is in the table at BLOCKS_CELL.
export const CELL: usize = 16;
const KEY: usize = 16;
const BLOCKS_CELL: usize = 40;
const ROW_BITS: u32 = 10;
const ROW_MASK: u32 = 1023;
const BLOCK_MASK: u32 = 0x1fffff;
const HAS_NEXT: u32 = 0x80000000;

export function rowsOf(block: usize): usize {
  return <usize>load<u32>(block);
}

export function countOf(block: usize): u32 {
  return load<u32>(block, 8);
}

/** The row number of the line at an index. */
export function numberAt(block: usize, index: u32): u32 {
  return <u32>load<u16>(<usize>load<u32>(block, 4) + ((<usize>index) << 1));
}

export function rowAt(block: usize, index: u32): usize {
  return rowsOf(block) + <usize>numberAt(block, index) * ROW;
}

export function nameOf(row: usize): usize {
  return <usize>load<u32>(row) + BYTES;
}

export function nameLength(row: usize): u32 {
  return load<u32>(<usize>load<u32>(row), 4);
}

export function labelsOf(row: usize): usize {
  return <usize>load<u32>(row, 4) + BYTES;
}

export function labelsLength(row: usize): u32 {
  return load<u32>(<usize>load<u32>(row, 4), 4);
}

export function cellOf(row: usize): usize {
  return <usize>load<u32>(row, 8);
}

export function opOf(row: usize): u32 {
  return load<u32>(row, 12);
}

/** The index of the next line whose value changed, from `index` on; the count if there is none. */
export function nextChanged(block: usize, changes: usize, index: u32): u32 {
  const bits = block + changes;
  const count = countOf(block);
  if (load<u32>(block, 16) == 0) {
    for (; index < count; index++) {
      const row = numberAt(block, index);
      if ((load<u32>(bits + ((<usize>(row >> 5)) << 2)) >> (row & 31)) & 1) return index;
    }
    return count;
  }
  while (index < count) {
    const rest = load<u32>(bits + ((<usize>(index >> 5)) << 2)) >> (index & 31);
    if (rest != 0) return min(count, index + ctz<u32>(rest));
    index = (index | 31) + 1;
  }
  return count;
}

export function hasChanged(block: usize, changes: usize, index: u32): bool {
  const row = numberAt(block, index);
  return ((load<u32>(block + changes + ((<usize>(row >> 5)) << 2)) >> (row & 31)) & 1) != 0;
}

/** The text shows all values. */
export function textWritten(block: usize): void {
  memory.fill(block + TEXT_CHANGES, 0, 128);
  store<u32>(block, load<u32>(block, 12) & ~TEXT_STALE, 12);
}

/** The stream shows all values. */
export function streamWritten(block: usize): void {
  memory.fill(block + STREAM_CHANGES, 0, 128);
  store<u32>(block, load<u32>(block, 12) & ~STREAM_STALE, 12);
}

function headerOf(number: u32): usize {
  return <usize>load<u32>(<usize>load<u32>(BLOCKS_CELL) + ((<usize>number) << 2));
}

/** Notes that a cell has another value: in all lines that show it. */
export function touch(cell: usize): void {
  let line = load<u32>(cell, 12);
  while (line != 0) {
    const block = <usize>(
      load<u32>(<usize>load<u32>(BLOCKS_CELL) + ((<usize>((line >> ROW_BITS) & BLOCK_MASK)) << 2))
    );
    const row = line & ROW_MASK;
    const at = block + ((<usize>(row >> 5)) << 2);
    const bit: u32 = 1 << (row & 31);
    store<u32>(at, load<u32>(at, TEXT_CHANGES) | bit, TEXT_CHANGES);
    store<u32>(at, load<u32>(at, STREAM_CHANGES) | bit, STREAM_CHANGES);
    store<u32>(block, TEXT_STALE | STREAM_STALE, 12);
    if ((line & HAS_NEXT) == 0) return;
    line = load<u32>(rowsOf(block) + <usize>row * ROW, 16);
  }
}

/**
 * Copies the rows of a block in the order of its lines from one place to another, each with its key
 * (16 bytes, before all rows) and its sub (4 bytes, behind them). The block's number was `old`; its
 * cells know its lines by `fresh` from now on. The header is left to the caller.
 */
export function sort(
  block: usize,
  old: u32,
  fresh: u32,
  from: usize,
  to: usize,
  capacity: u32,
): void {
  const keys = <usize>capacity * KEY;
  const subs = keys + <usize>capacity * ROW;
  const count = countOf(block);
  for (let i: u32 = 0; i < count; i++) {
    const row = numberAt(block, i);
    memory.copy(to + <usize>i * KEY, from + <usize>row * KEY, KEY);
    const moved = to + keys + <usize>i * ROW;
    memory.copy(moved, from + keys + <usize>row * ROW, ROW);
    store<u32>(to + subs + ((<usize>i) << 2), load<u32>(from + subs + ((<usize>row) << 2)));
    const cell = cellOf(moved);
    if (cell == 0) continue;
    let at = cell + 12;
    let line = load<u32>(at);
    while ((line & ~HAS_NEXT) != ((old << ROW_BITS) | row)) {
      const number = (line >> ROW_BITS) & BLOCK_MASK;
      const rows =
        number == old ? from + keys : number == fresh ? to + keys : rowsOf(headerOf(number));
      at = rows + <usize>(line & ROW_MASK) * ROW + 16;
      line = load<u32>(at);
    }
    store<u32>(at, (line & HAS_NEXT) | (fresh << ROW_BITS) | i);
  }
}

// Compares what was copied with what was copied before.
import { CELL, touch } from './block';

/** Stores the values that differ in their cells; returns how many. Lines that show them are noted. */
export function absorb(cells: usize, incoming: usize, count: u32): u32 {
  let changed: u32 = 0;
  const end = incoming + ((<usize>count) << 3);
  for (; incoming < end; incoming += 8, cells += CELL) {
    const bits = load<u64>(incoming);
    if (bits == load<u64>(cells)) continue;
    store<u64>(cells, bits);
    changed++;
    touch(cells);
  }
  return changed;
}

/** Lists the indexes of words that differ from those of their cells, and stores them; at most `most`. */
export function changedWords(
  cells: usize,
  incoming: usize,
  count: u32,
  out: usize,
  most: u32,
): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < count && found < most; i++) {
    const word = load<u32>(incoming + ((<usize>i) << 2));
    const cell = cells + <usize>i * CELL;
    if (word == load<u32>(cell, 8)) continue;
    store<u32>(cell, word, 8);
    store<u32>(out + ((<usize>found) << 2), i);
    found++;
  }
  return found;
}

/** Watches of 16 bytes: address u32, spare, last bits u64. Lists the indexes that changed. */
export function changedWatches(table: usize, count: u32, out: usize): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const watch = table + ((<usize>i) << 4);
    const bits = load<u64>(<usize>load<u32>(watch));
    if (bits == load<u64>(watch, 8)) continue;
    store<u64>(watch, bits, 8);
    store<u32>(out + ((<usize>found) << 2), i);
    found++;
  }
  return found;
}

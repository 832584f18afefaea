// Compares what was copied with what was copied before.
import { MOVED_AT } from '../layout';
import { CELL, touch } from './block';

const MOVED: usize = MOVED_AT;

/** What of a pair of words, each with the line of its cell above it, is compared. */
const WORDS: v128 = i32x4(-1, 0, -1, 0);

/**
 * Stores the values and words that differ in their cells; returns how many cells these are. Lines that show
 * the values are noted. The indexes of words that differ are at `out`, each u32; their number is in MOVED.
 */
export function absorb(cells: usize, values: usize, words: usize, count: u32, out: usize): u32 {
  let changed: u32 = 0;
  store<u32>(MOVED, 0);
  let i: u32 = 0;
  for (let cell = cells; i + 2 <= count; i += 2, cell += 2 * CELL) {
    const first = v128.load(cell);
    const second = v128.load(cell, CELL);
    const held = v128.shuffle<u64>(first, second, 0, 2);
    const heldWords = v128.shuffle<u64>(first, second, 1, 3);
    const ofValues = v128.xor(held, v128.load(values + ((<usize>i) << 3)));
    const ofWords = v128.xor(heldWords, v128.load_ext<u32>(words + ((<usize>i) << 2)));
    if (!v128.any_true(v128.or(ofValues, v128.and(ofWords, WORDS)))) continue;
    changed +=
      absorbOne(cells, values, words, i, out) + absorbOne(cells, values, words, i + 1, out);
  }
  return i == count ? changed : changed + absorbOne(cells, values, words, i, out);
}

/** The same for one of them: 1 if it differs, else 0. */
function absorbOne(cells: usize, values: usize, words: usize, index: u32, out: usize): u32 {
  const cell = cells + <usize>index * CELL;
  const bits = load<u64>(values + ((<usize>index) << 3));
  const word = load<u32>(words + ((<usize>index) << 2));
  const isSame = bits == load<u64>(cell);
  if (!isSame) {
    store<u64>(cell, bits);
    touch(cell);
  }
  if (word == load<u32>(cell, 8)) return isSame ? 0 : 1;
  store<u32>(cell, word, 8);
  const moved = load<u32>(MOVED);
  store<u32>(out + ((<usize>moved) << 2), index);
  store<u32>(MOVED, moved + 1);
  return 1;
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

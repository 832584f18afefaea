// Compares a new copy of slots with the last copy, which the cells hold.
import { CELL_BYTES, CELL_WORD, CHANGED_WORDS_AT } from '../layout';
import { markDirty } from './block';

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

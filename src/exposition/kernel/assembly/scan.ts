// Compares what was copied with what was copied before.

/** Copies changed bytes in steps of 512; returns the number of steps that differed. */
export function absorb(current: usize, incoming: usize, bytes: usize): u32 {
  let steps: u32 = 0;
  for (let at: usize = 0; at < bytes; at += 512) {
    const end = min(at + 512, bytes);
    let differs: u64 = 0;
    for (let i = at; i < end; i += 8) differs |= load<u64>(current + i) ^ load<u64>(incoming + i);
    if (differs != 0) {
      memory.copy(current + at, incoming + at, end - at);
      steps++;
    }
  }
  return steps;
}

/** Lists the indexes of 4-byte words that differ, and copies them; at most `most` of them. */
export function changedWords(
  current: usize,
  incoming: usize,
  count: u32,
  out: usize,
  most: u32,
): u32 {
  let found: u32 = 0;
  for (let i: u32 = 0; i < count && found < most; i++) {
    const offset = (<usize>i) << 2;
    // Mostly nothing changed: skip equal pairs.
    if (
      (i & 1) == 0 &&
      i + 1 < count &&
      load<u64>(incoming + offset) == load<u64>(current + offset)
    ) {
      i++;
      continue;
    }
    const word = load<u32>(incoming + offset);
    if (word == load<u32>(current + offset)) continue;
    store<u32>(current + offset, word);
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

// Writes changed values into the protobuf messages of their lines.
import { cellOf, countOf, entryAt, nextChanged, opcodeOf, prefetch } from './block';
import {
  BLOCK_MESSAGES_CHANGES,
  BLOCK_MESSAGES_DIRTY,
  CHANGES_BYTES,
  COUNT_BYTES,
  IS_COUNT,
  PLACE_BYTES,
} from '../layout';
import { scaledNumberOf } from './values';

/** Writes the changed values of a sorted block into its messages. `places` has the place of each line. */
export function writeValues(block: usize, places: usize, messages: usize): void {
  const count = countOf(block);
  prefetch(block, BLOCK_MESSAGES_CHANGES, places, PLACE_BYTES);
  let i = nextChanged(block, BLOCK_MESSAGES_CHANGES, 0);
  for (; i < count; i = nextChanged(block, BLOCK_MESSAGES_CHANGES, i + 1)) {
    const place = load<u32>(places + <usize>i * PLACE_BYTES);
    if (place == 0) continue;
    const entry = entryAt(block, i);
    const bits = load<u64>(cellOf(entry));
    const at = messages + <usize>(place & ~IS_COUNT);
    if ((place & IS_COUNT) != 0) writeCount(bits, at);
    else writeNumber(scaledNumberOf(bits, opcodeOf(entry)), at);
  }
  messagesWritten(block);
}

/** Marks the messages as current. */
export function messagesWritten(block: usize): void {
  memory.fill(block + BLOCK_MESSAGES_CHANGES, 0, CHANGES_BYTES);
  store<u32>(block, 0, BLOCK_MESSAGES_DIRTY);
}

/** Writes a double. All NaNs become the same one: Prometheus gives some of them a meaning. */
function writeNumber(value: f64, at: usize): void {
  store<f64>(at, value == value ? value : NaN);
}

function writeCount(value: u64, at: usize): void {
  const last = at + COUNT_BYTES - 1;
  for (; at < last; at++, value >>= 7) store<u8>(at, (<u8>value) | 0x80);
  store<u8>(last, <u8>value);
}

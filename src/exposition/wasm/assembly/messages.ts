// Writes changed values into the protobuf messages of their lines, and messages as a deflate block.
import { cellOf, countOf, entryAt, nextChanged, opcodeOf, prefetch } from './block';
import { shiftCrc, updateCrc } from './crc';
import { writeDiff } from './line-diff';
import {
  BLOCK_MESSAGES_CHANGES,
  BLOCK_MESSAGES_DIRTY,
  CHANGES_BYTES,
  COUNT_BYTES,
  IS_COUNT,
  PLACE_BYTES,
  VALUE_AT,
} from '../layout';
import { beginBlock, countsOf, endBlock, writeLiterals } from './symbols';
import { scaledNumberOf } from './values';

const NUMBER_BYTES: u32 = 8;

function placeAt(places: usize, line: u32): u32 {
  return load<u32>(places + <usize>line * PLACE_BYTES);
}

function offsetOf(place: u32): u32 {
  return place & ~IS_COUNT;
}

function lengthOf(place: u32): u32 {
  return (place & IS_COUNT) != 0 ? COUNT_BYTES : NUMBER_BYTES;
}

/**
 * Writes the changed values of a sorted block into messages of `bytes` bytes. If `deflated` is not 0, also writes them
 * into the deflate block there, in which `bitPlaces` has the place of each value in bits. Returns the raw CRC of the
 * difference between the former and the new messages.
 * @param places the place of each line
 */
export function writeValues(
  block: usize,
  places: usize,
  messages: usize,
  bytes: u32,
  bitPlaces: usize,
  deflated: usize,
  code: usize,
): u32 {
  const count = countOf(block);
  let crc: u32 = 0;
  let crcEnd: u32 = 0;
  prefetch(block, BLOCK_MESSAGES_CHANGES, places, PLACE_BYTES);
  let i = nextChanged(block, BLOCK_MESSAGES_CHANGES, 0);
  for (; i < count; i = nextChanged(block, BLOCK_MESSAGES_CHANGES, i + 1)) {
    const place = placeAt(places, i);
    if (place == 0) continue;
    const at = messages + <usize>offsetOf(place);
    const length = lengthOf(place);
    const end = writeValue(entryAt(block, i), place);
    if (deflated != 0) {
      v128.store(VALUE_AT + 16, v128.xor(v128.load(VALUE_AT), v128.load(at)));
      crc = shiftCrc(crc, offsetOf(place) - crcEnd);
      crc = updateCrc(crc, VALUE_AT + 16, VALUE_AT + 16 + length);
      crcEnd = offsetOf(place) + length;
      replaceLiterals(((<u64>deflated) << 3) + <u64>placeAt(bitPlaces, i), code, end);
    }
    store<u64>(at, load<u64>(VALUE_AT));
    if (length > NUMBER_BYTES) store<u16>(at, load<u16>(VALUE_AT + 8), 8);
  }
  messagesWritten(block);
  return shiftCrc(crc, bytes - crcEnd);
}

/** Marks the messages as current. */
export function messagesWritten(block: usize): void {
  memory.fill(block + BLOCK_MESSAGES_CHANGES, 0, CHANGES_BYTES);
  store<u32>(block, 0, BLOCK_MESSAGES_DIRTY);
}

/** Writes a value to VALUE_AT; returns the end. Every NaN gets the standard bits: Prometheus reads other NaN bits as markers, such as stale. */
function writeValue(entry: usize, place: u32): usize {
  const bits = load<u64>(cellOf(entry));
  if ((place & IS_COUNT) != 0) return writeCount(bits);
  const number = scaledNumberOf(bits, opcodeOf(entry));
  store<f64>(VALUE_AT, number == number ? number : NaN);
  return VALUE_AT + NUMBER_BYTES;
}

function writeCount(count: u64): usize {
  const last: usize = VALUE_AT + COUNT_BYTES - 1;
  for (let at: usize = VALUE_AT; at < last; at++, count >>= 7) store<u8>(at, (<u8>count) | 0x80);
  store<u8>(last, <u8>count);
  return last + 1;
}

/** Writes the literals from VALUE_AT to `end` in place of as many others. All literals have codes of the same length. */
function replaceLiterals(at: u64, code: usize, end: usize): void {
  const bits = <u64>(end - VALUE_AT) * <u64>(load<u32>(code) >> 24);
  const after = <usize>((at + bits) >> 3);
  const kept = load<u64>(after);
  const mask: u64 = (1 << ((at + bits) & 7)) - 1;
  writeLiterals(at, code, VALUE_AT, end);
  store<u64>(after, (load<u64>(after) & mask) | (kept & ~mask));
}

/**
 * Writes messages as a deflate block to `to` (or counts its symbols), each by comparison with the message `lineDistance` lines before. Values
 * are literals, so that others can replace them. Stores the place of each value in bits at `bitPlaces`. Returns the
 * bytes of the block.
 */
export function deflateMessages(
  places: usize,
  lines: u32,
  messages: usize,
  bytes: u32,
  lineDistance: u32,
  code: usize,
  bitPlaces: usize,
  to: usize,
): u32 {
  const isCounted = countsOf(code) != 0;
  let at = isCounted ? (<u64>to) << 3 : beginBlock(code, to);
  let from: u32 = 0;
  for (let i: u32 = 0; i < lines; i++) {
    const place = placeAt(places, i);
    if (place == 0) continue;
    const text = messages + <usize>from;
    const length = offsetOf(place) - from;
    const other = i - (i >= lineDistance ? lineDistance : min<u32>(i, 1));
    const otherFrom = valuesEnd(places, other);
    const otherEnd = offsetOf(placeAt(places, other));
    at =
      otherEnd <= otherFrom || otherFrom == from
        ? writeLiterals(at, code, text, text + length)
        : writeDiff(
            at,
            code,
            0,
            0,
            text,
            length,
            messages + <usize>otherFrom,
            otherEnd - otherFrom,
            from - otherFrom,
          );
    store<u32>(bitPlaces + <usize>i * PLACE_BYTES, <u32>(at - ((<u64>to) << 3)));
    from = offsetOf(place) + lengthOf(place);
    at = writeLiterals(at, code, messages + <usize>offsetOf(place), messages + <usize>from);
  }
  at = writeLiterals(at, code, messages + <usize>from, messages + <usize>bytes);
  return isCounted ? 0 : <u32>(endBlock(at, code) - to);
}

/** The end of the last value before a line. */
function valuesEnd(places: usize, line: u32): u32 {
  while (line > 0) {
    const place = placeAt(places, --line);
    if (place != 0) return offsetOf(place) + lengthOf(place);
  }
  return 0;
}

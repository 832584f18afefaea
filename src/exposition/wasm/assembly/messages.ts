// Writes changed values into the protobuf messages of their lines, and messages as a deflate block.
import { cellOf, countOf, entryAt, nextChanged, opcodeOf, prefetch } from './block';
import { shiftCrc, updateCrc } from './crc';
import { linesBack } from './deflate';
import { writeDiff } from './line-diff';
import {
  BLOCK_MESSAGES_CHANGES,
  BLOCK_MESSAGES_DIRTY,
  CHANGES_BYTES,
  COUNT_BYTES,
  IS_COUNT,
  MESSAGES_LENGTH,
  MESSAGES_PLACES,
  PLACE_BYTES,
  VALUE_AT,
} from '../layout';
import { beginBlock, countsOf, endBlock, writeLiterals } from './symbols';
import { scaledNumberOf } from './values';

const NUMBER_BYTES: u32 = 8;

/** The bytes of the places of all lines. */
function placesBytes(buffer: usize): usize {
  return <usize>load<u32>(buffer) * PLACE_BYTES;
}

function messagesOf(buffer: usize): usize {
  return buffer + MESSAGES_PLACES + placesBytes(buffer);
}

function placeAt(places: usize, line: u32): u32 {
  return load<u32>(places + <usize>line * PLACE_BYTES);
}

function offsetOf(place: u32): u32 {
  return place & ~IS_COUNT;
}

function sizeOf(place: u32): u32 {
  return (place & IS_COUNT) != 0 ? COUNT_BYTES : NUMBER_BYTES;
}

/**
 * Writes the changed values of a sorted block into the messages of a buffer, in which its first line is line
 * `firstLine`. If `code` is not 0, also writes them into the deflate block of the buffer, which uses this code. Returns
 * the raw CRC of the difference between the former and the new messages.
 */
export function writeValues(block: usize, buffer: usize, firstLine: u32, code: usize): u32 {
  const count = countOf(block);
  const places = buffer + MESSAGES_PLACES + <usize>firstLine * PLACE_BYTES;
  const messages = messagesOf(buffer);
  const bytes = load<u32>(buffer, MESSAGES_LENGTH);
  const bitPlaces = messages + <usize>bytes + <usize>firstLine * PLACE_BYTES;
  const deflated = messages + <usize>bytes + placesBytes(buffer);
  let crc: u32 = 0;
  let crcEnd: u32 = 0;
  prefetch(block, BLOCK_MESSAGES_CHANGES, places, PLACE_BYTES);
  let i = nextChanged(block, BLOCK_MESSAGES_CHANGES, 0);
  for (; i < count; i = nextChanged(block, BLOCK_MESSAGES_CHANGES, i + 1)) {
    const place = placeAt(places, i);
    if (place == 0) continue;
    const at = messages + <usize>offsetOf(place);
    const size = sizeOf(place);
    const end = writeNumber(entryAt(block, i), place);
    if (code != 0) {
      v128.store(VALUE_AT + 16, v128.xor(v128.load(VALUE_AT), v128.load(at)));
      crc = shiftCrc(crc, offsetOf(place) - crcEnd);
      crc = updateCrc(crc, VALUE_AT + 16, VALUE_AT + 16 + size);
      crcEnd = offsetOf(place) + size;
      replaceLiterals(((<u64>deflated) << 3) + <u64>placeAt(bitPlaces, i), code, end);
    }
    store<u64>(at, load<u64>(VALUE_AT));
    if (size > NUMBER_BYTES) store<u16>(at, load<u16>(VALUE_AT + 8), 8);
  }
  messagesWritten(block);
  return shiftCrc(crc, bytes - crcEnd);
}

/** Marks the messages as current. */
export function messagesWritten(block: usize): void {
  memory.fill(block + BLOCK_MESSAGES_CHANGES, 0, CHANGES_BYTES);
  store<u32>(block, 0, BLOCK_MESSAGES_DIRTY);
}

/**
 * Writes a double or a count to VALUE_AT; returns the end. Every NaN gets the standard bits: Prometheus reads other NaN
 * bits as markers, such as stale.
 */
function writeNumber(entry: usize, place: u32): usize {
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
 * Writes bit places and deflate block of the messages of a buffer to `to` (or counts the symbols), each message by
 * comparison with the message `lineDistance` lines before. Values are literals, so that others can replace them. Returns
 * the bytes of the block.
 */
export function deflateMessages(buffer: usize, lineDistance: u32, code: usize, to: usize): u32 {
  const isCounted = countsOf(code) != 0;
  const lines = load<u32>(buffer);
  const places = buffer + MESSAGES_PLACES;
  const messages = messagesOf(buffer);
  const deflated = to + placesBytes(buffer);
  const start = (<u64>deflated) << 3;
  let at = isCounted ? start : beginBlock(code, deflated);
  let from: u32 = 0;
  for (let i: u32 = 0; i < lines; i++) {
    const place = placeAt(places, i);
    if (place == 0) continue;
    const text = messages + <usize>from;
    const length = offsetOf(place) - from;
    const other = i - linesBack(i, lineDistance);
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
    store<u32>(to + <usize>i * PLACE_BYTES, <u32>(at - start));
    from = offsetOf(place) + sizeOf(place);
    at = writeLiterals(at, code, messages + <usize>offsetOf(place), messages + <usize>from);
  }
  const bytes = load<u32>(buffer, MESSAGES_LENGTH);
  at = writeLiterals(at, code, messages + <usize>from, messages + <usize>bytes);
  return isCounted ? 0 : <u32>(endBlock(at, code) - deflated);
}

/** The end of the last value before a line. */
function valuesEnd(places: usize, line: u32): u32 {
  while (line > 0) {
    const place = placeAt(places, --line);
    if (place != 0) return offsetOf(place) + sizeOf(place);
  }
  return 0;
}

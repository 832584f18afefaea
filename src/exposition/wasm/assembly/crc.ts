// CRC-32 of parts of a text, without its initial and final inversion: so they can be joined.
import { CRC_TABLES_CELL } from '../layout';

// The tables, 164 KiB at the address in TABLES_CELL; ../../compress/crc.ts makes them. The first four update a
// CRC by four bytes of text: one of 256 for each byte of the CRC. The others shift it over zero bytes: for
// each number of them up to 255, and for each digit of larger ones in base 16, up to 4 digits, there are eight of
// 16, one for each half of a byte, the lowest first: twice as many as of whole bytes, but those of the lengths
// that lines have stay in the fastest cache.
// Behind them is one of 16 CRC for each place in a value: of the characters from `-` to `9` there, by
// their lowest four bits, in a text of zero bytes. The first place is that of the line feed: its CRC. No
// character (12) has 0 in all places, of which 7 are before the first.
const TABLES_CELL: usize = CRC_TABLES_CELL;
const SHORT: usize = 4096;
const SHIFT: usize = 512;
const STAGES: usize = SHORT + 255 * SHIFT;
const STAGE: usize = 15 * SHIFT;
const PLACE: usize = 64;
const PLACES: usize = STAGES + 4 * STAGE + 7 * PLACE;
const NO_TEXT: u64 = 0x0c0c0c0c0c0c0c0c;
/** The most zero bytes that one lookup shifts a CRC over. */
const MAX_BYTES: u32 = 0xffff;

/** The CRC after more bytes. */
export function updated(crc: u32, from: usize, to: usize): u32 {
  const tables = <usize>load<u32>(TABLES_CELL);
  let at = from;
  for (; at + 4 <= to; at += 4) {
    crc ^= load<u32>(at);
    crc = ofWord(tables, crc);
  }
  for (; at < to; at++)
    crc = (crc >> 8) ^ load<u32>(tables + ((<usize>((crc ^ load<u8>(at)) & 0xff)) << 2));
  return crc;
}

/** The CRC after a value of `length` characters from `-` to `9`, and a line feed. */
export function updatedByValue(crc: u32, value: usize, length: u32): u32 {
  const places = <usize>load<u32>(TABLES_CELL) + PLACES;
  crc = shifted(crc, length + 1);
  crc ^= load<u32>(places);
  const end = value + <usize>length;
  for (let place = places + <usize>length * PLACE; value < end; value += 8, place -= 8 * PLACE) {
    const rest = end - value;
    const text = rest >= 8 ? load<u64>(value) : withoutTail(load<u64>(value), rest);
    crc ^= ofPlace(place, text) ^ ofPlace(place - PLACE, text >> 8);
    crc ^= ofPlace(place - 2 * PLACE, text >> 16) ^ ofPlace(place - 3 * PLACE, text >> 24);
    crc ^= ofPlace(place - 4 * PLACE, text >> 32) ^ ofPlace(place - 5 * PLACE, text >> 40);
    crc ^= ofPlace(place - 6 * PLACE, text >> 48) ^ ofPlace(place - 7 * PLACE, text >> 56);
  }
  return crc;
}

function ofPlace(place: usize, text: u64): u32 {
  return load<u32>(place + ((<usize>(text & 15)) << 2));
}

/** Keeps the first 1 to 7 of eight characters; the lowest four bits of the others become 12, which is no character. */
export function withoutTail(text: u64, length: usize): u64 {
  const bits = (<u64>length) << 3;
  return (text & (((<u64>1) << bits) - 1)) | (NO_TEXT << bits);
}

/** The CRC after that many zero bytes. */
export function shifted(crc: u32, bytes: u32): u32 {
  for (; bytes > MAX_BYTES; bytes -= MAX_BYTES) crc = shifted(crc, MAX_BYTES);
  const tables = <usize>load<u32>(TABLES_CELL);
  if (bytes < 256) return ofDigit(tables + SHORT, bytes, crc);
  const stages = tables + STAGES;
  crc = ofDigit(stages, bytes & 15, crc);
  crc = ofDigit(stages + STAGE, (bytes >> 4) & 15, crc);
  crc = ofDigit(stages + 2 * STAGE, (bytes >> 8) & 15, crc);
  return ofDigit(stages + 3 * STAGE, bytes >> 12, crc);
}

/** The CRC after the zero bytes of one digit. */
function ofDigit(stage: usize, digit: u32, crc: u32): u32 {
  if (digit == 0) return crc;
  const tables = stage + <usize>(digit - 1) * SHIFT;
  return (
    load<u32>(tables + ((<usize>(crc & 15)) << 2)) ^
    load<u32>(tables + ((<usize>((crc >> 4) & 15)) << 2), 64) ^
    load<u32>(tables + ((<usize>((crc >> 8) & 15)) << 2), 128) ^
    load<u32>(tables + ((<usize>((crc >> 12) & 15)) << 2), 192) ^
    load<u32>(tables + ((<usize>((crc >> 16) & 15)) << 2), 256) ^
    load<u32>(tables + ((<usize>((crc >> 20) & 15)) << 2), 320) ^
    load<u32>(tables + ((<usize>((crc >> 24) & 15)) << 2), 384) ^
    load<u32>(tables + ((<usize>(crc >> 28)) << 2), 448)
  );
}

/** Four tables, one a byte. */
function ofWord(tables: usize, word: u32): u32 {
  return (
    load<u32>(tables + ((<usize>(word & 0xff)) << 2), 3072) ^
    load<u32>(tables + ((<usize>((word >> 8) & 0xff)) << 2), 2048) ^
    load<u32>(tables + ((<usize>((word >> 16) & 0xff)) << 2), 1024) ^
    load<u32>(tables + ((<usize>(word >> 24)) << 2))
  );
}

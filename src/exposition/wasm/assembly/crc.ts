// Computes raw CRC-32s of parts of a text. They lack the initial and the final inversion, so that the kernel can join
// them.
import {
  CRC_BYTE_BYTES,
  CRC_HALF_BYTES,
  CRC_MAX_DIGIT,
  CRC_SHIFTS,
  CRC_SHIFT_BYTES,
  CRC_TABLES_POINTER,
} from '../layout';

const DIGIT_TABLES: usize = CRC_MAX_DIGIT * CRC_SHIFT_BYTES;
/** The maximum number of zero bytes by which one lookup can shift a CRC. */
const MAX_BYTES: u32 = 0xffff;

/** Updates a raw CRC with the bytes from `from` to `to`. */
export function updateCrc(crc: u32, from: usize, to: usize): u32 {
  const tables = <usize>load<u32>(CRC_TABLES_POINTER);
  let at = from;
  for (; at + 4 <= to; at += 4) {
    crc ^= load<u32>(at);
    crc = lookUpWord(tables, crc);
  }
  for (; at < to; at++)
    crc = (crc >> 8) ^ load<u32>(tables + ((<usize>((crc ^ load<u8>(at)) & 0xff)) << 2));
  return crc;
}

/** Updates a raw CRC with this many zero bytes. */
export function shiftCrc(crc: u32, bytes: u32): u32 {
  for (; bytes > MAX_BYTES; bytes -= MAX_BYTES) crc = shiftCrc(crc, MAX_BYTES);
  const shiftTables = <usize>load<u32>(CRC_TABLES_POINTER) + CRC_SHIFTS;
  crc = shiftByDigit(shiftTables, bytes & 15, crc);
  crc = shiftByDigit(shiftTables + DIGIT_TABLES, (bytes >> 4) & 15, crc);
  crc = shiftByDigit(shiftTables + 2 * DIGIT_TABLES, (bytes >> 8) & 15, crc);
  return shiftByDigit(shiftTables + 3 * DIGIT_TABLES, bytes >> 12, crc);
}

/** Updates a raw CRC with zero bytes. Their number is the value of one digit of the count. */
function shiftByDigit(digitTables: usize, digit: u32, crc: u32): u32 {
  if (digit == 0) return crc;
  const tables = digitTables + <usize>(digit - 1) * CRC_SHIFT_BYTES;
  return (
    load<u32>(tables + ((<usize>(crc & 15)) << 2)) ^
    load<u32>(tables + ((<usize>((crc >> 4) & 15)) << 2), CRC_HALF_BYTES) ^
    load<u32>(tables + ((<usize>((crc >> 8) & 15)) << 2), 2 * CRC_HALF_BYTES) ^
    load<u32>(tables + ((<usize>((crc >> 12) & 15)) << 2), 3 * CRC_HALF_BYTES) ^
    load<u32>(tables + ((<usize>((crc >> 16) & 15)) << 2), 4 * CRC_HALF_BYTES) ^
    load<u32>(tables + ((<usize>((crc >> 20) & 15)) << 2), 5 * CRC_HALF_BYTES) ^
    load<u32>(tables + ((<usize>((crc >> 24) & 15)) << 2), 6 * CRC_HALF_BYTES) ^
    load<u32>(tables + ((<usize>(crc >> 28)) << 2), 7 * CRC_HALF_BYTES)
  );
}

/** Shifts a word by four bytes, with one lookup table for each byte of the word. */
function lookUpWord(tables: usize, word: u32): u32 {
  return (
    load<u32>(tables + ((<usize>(word & 0xff)) << 2), 3 * CRC_BYTE_BYTES) ^
    load<u32>(tables + ((<usize>((word >> 8) & 0xff)) << 2), 2 * CRC_BYTE_BYTES) ^
    load<u32>(tables + ((<usize>((word >> 16) & 0xff)) << 2), CRC_BYTE_BYTES) ^
    load<u32>(tables + ((<usize>(word >> 24)) << 2))
  );
}

// CRC-32 of parts of a text, without its initial and final inversion: so they can be joined.

// The tables, 244 KiB at the address in TABLES_CELL; ../../deflate/crc.ts makes them. They come in
// fours, one for each byte of the CRC. The first four update a CRC by four bytes of text. The others
// shift it over zero bytes: there are four for each digit of their number in base 16, up to 4 digits.
const TABLES_CELL: usize = 24;
const SHIFTS: usize = 4096;
const SHIFT: usize = 4096;
/** The most bytes that the tables shift over at once. */
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

/** The CRC after that many zero bytes. */
export function shifted(crc: u32, bytes: u32): u32 {
  for (; bytes > MAX_BYTES; bytes -= MAX_BYTES) crc = shifted(crc, MAX_BYTES);
  let stage = <usize>load<u32>(TABLES_CELL) + SHIFTS;
  for (; bytes > 0 && crc != 0; bytes >>= 4) {
    const digit = bytes & 15;
    if (digit != 0) crc = ofWord(stage + <usize>(digit - 1) * SHIFT, crc);
    stage += 15 * SHIFT;
  }
  return crc;
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

// The CRC-32 of a record. zlib's takes five times as long for so few bytes: most of it goes to the call.
import { RECORD, RECORD_WORDS } from './layout.js';

/** The polynomial, reflected. RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;
const BYTES = 256;
const FIRST = RECORD.index / 4;

/** What becomes of each byte of a word, the highest first: a word is taken in at once. */
const [HIGHEST, HIGH, LOW, LOWEST] = tables();

/** The CRC of the record that begins with the word `at`, over all that follows its own. */
export function recordCrc(words: Uint32Array, at: number): number {
  let crc = -1;
  for (let i = at + FIRST; i < at + RECORD_WORDS; i++) {
    crc ^= words[i] ?? 0;
    crc =
      (LOWEST[crc & 0xff] ?? 0) ^
      (LOW[(crc >>> 8) & 0xff] ?? 0) ^
      (HIGH[(crc >>> 16) & 0xff] ?? 0) ^
      (HIGHEST[crc >>> 24] ?? 0);
  }
  return ~crc >>> 0;
}

type Tables = readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array];

function tables(): Tables {
  const highest = new Uint32Array(BYTES).map((_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
    return crc;
  });
  /** The same with one more zero byte behind it. */
  const shifted = (table: Uint32Array): Uint32Array =>
    table.map((crc) => (crc >>> 8) ^ (highest[crc & 0xff] ?? 0));
  const high = shifted(highest);
  const low = shifted(high);
  return [highest, high, low, shifted(low)];
}

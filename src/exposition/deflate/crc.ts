// CRC-32 of parts of a text that are joined later: without its initial and final inversion.

/** The polynomial, reflected. RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;
/** x to the power 0, reflected. */
const ONE = 0x80000000;
const DIGITS = 15;
/** Digits of a number of bytes in base 16: in the kernel, and here. */
const KERNEL_STAGES = 4;
const STAGES = 8;
const LINE_FEED = 0x0a;
/** Characters of a value, and places where there is none. */
const LONGEST_VALUE = 25;
const NO_PLACES = 7;
/** CRC for each place. */
const PLACE = 16;

/** The product of two polynomials modulo the one of the CRC. */
function product(a: number, b: number): number {
  let result = 0;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) result ^= b;
    b = (b & 1) !== 0 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return result >>> 0;
}

/** x to the power 8 · digit · 16^stage, for each stage and each digit from 1 on. */
const powers: readonly number[] = (() => {
  const all: number[] = [];
  // x^8: seven shifts of x, which is the second highest bit.
  let base = ONE >>> 8;
  for (let stage = 0; stage < STAGES; stage++) {
    let power = ONE;
    for (let digit = 1; digit <= DIGITS; digit++) all.push((power = product(power, base)));
    base = product(power, base);
  }
  return all;
})();

/** The CRC after that many zero bytes. */
export function shiftedCrc(crc: number, bytes: number): number {
  let [shifted, rest] = [crc, bytes];
  for (let stage = 0; rest > 0 && stage < STAGES; stage++) {
    const digit = rest % 16;
    rest = (rest - digit) / 16;
    if (digit > 0) shifted = product(shifted, powers[stage * DIGITS + digit - 1] ?? 0);
  }
  return shifted;
}

/** The CRC-32 of a text from its inner CRC, as gzip and zlib write it. */
export const finishedCrc = (crc: number, bytes: number): number =>
  (crc ^ shiftedCrc(0xffffffff, bytes) ^ 0xffffffff) >>> 0;

/** The inner CRC of a text from its CRC-32: the same inversions take themselves back. */
export const innerCrc = finishedCrc;

let made: Uint32Array | undefined;

/** The tables of assembly/crc.ts. */
export const crcTables = (): Uint32Array => (made ??= tables());

function tables(): Uint32Array {
  const places = (1 + KERNEL_STAGES * DIGITS) * 1024 + NO_PLACES * PLACE;
  const all = new Uint32Array(places + (1 + LONGEST_VALUE) * PLACE);
  // Four bytes at once: the word is shifted by four bytes, as a whole.
  fill(all.subarray(0, 1024), shiftOf(4));
  for (let shift = 0; shift < KERNEL_STAGES * DIGITS; shift++) {
    const stage = Math.floor(shift / DIGITS);
    const digit = 1 + (shift % DIGITS);
    fill(all.subarray((1 + shift) * 1024, (2 + shift) * 1024), shiftOf(digit * 16 ** stage));
  }
  all[places] = all[LINE_FEED] ?? 0;
  for (let behind = 1; behind <= LONGEST_VALUE; behind++)
    for (const byte of Buffer.from('-.0123456789'))
      all[places + behind * PLACE + (byte % PLACE)] = shiftedCrc(all[byte] ?? 0, behind);
  return all;
}

/** What becomes of each bit of a CRC after that many zero bytes. */
const shiftOf = (bytes: number): readonly number[] =>
  Array.from({ length: 32 }, (_, bit) => shiftedCrc(2 ** bit, bytes));

/** Four tables of a linear function of 32 bits, the one for the highest byte first. */
function fill(table: Uint32Array, ofBits: readonly number[]): void {
  for (let byte = 0; byte < 4; byte++)
    for (let value = 1; value < 256; value++) {
      const lowest = 31 - Math.clz32(value & -value);
      const rest = table[(3 - byte) * 256 + (value & (value - 1))] ?? 0;
      table[(3 - byte) * 256 + value] = rest ^ (ofBits[byte * 8 + lowest] ?? 0);
    }
}

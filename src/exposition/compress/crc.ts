// Computes the CRC-32 of a text from the CRC-32s of its parts, and makes tables for the kernel. The kernel computes
// *raw CRCs*: CRC-32s without the initial and the final inversion.
import {
  CRC_BYTE_BYTES,
  CRC_DIGITS,
  CRC_HALF_BYTES,
  CRC_MAX_DIGIT,
  CRC_SHIFTS,
  CRC_SHIFT_BYTES,
} from '../wasm/layout.js';

/** The polynomial of CRC-32, in reflected bit order. RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;
/** The polynomial 1, which is x to the power 0, in reflected bit order. */
const ONE = 0x80000000;

/**
 * Multiplies two polynomials modulo the polynomial of the CRC. The loop body avoids branches, since the processor
 * could not predict them.
 */
function product(a: number, b: number): number {
  let result = 0;
  for (let rest = a; rest !== 0; rest <<= 1) {
    result ^= b & (rest >> 31);
    b = timesX(b);
  }
  return result >>> 0;
}

/** The product of a polynomial and x. */
const timesX = (a: number): number => (a >>> 1) ^ (POLYNOMIAL & -(a & 1));

/** x to the power 8 · 2^i, for each bit i of a number of bytes. In reflected order, x^n is n bits below x^0. */
const POWERS = Array.from({ length: 32 }, () => ONE >>> 8);
for (let i = 1; i < POWERS.length; i++) POWERS[i] = product(POWERS[i - 1] ?? 0, POWERS[i - 1] ?? 0);

/**
 * The CRC-32 of two joined texts, from the CRC-32 of each; the second text has `bytes` bytes. `shiftedCrc` may take a
 * CRC-32 here, since the inversions cancel each other out.
 */
export const joinedCrc = (first: number, second: number, bytes: number): number =>
  (shiftedCrc(first, bytes) ^ second) >>> 0;

/** Returns the raw CRC of a text followed by `bytes` zero bytes; `crc` is the raw CRC of the text alone. */
export function shiftedCrc(crc: number, bytes: number): number {
  let shifted = crc;
  POWERS.forEach((power, i) => {
    if ((bytes >>> i) & 1) shifted = product(shifted, power);
  });
  return shifted;
}

let cachedTables: Uint32Array | undefined;

/** The tables for the kernel, as wasm/layout.ts describes them. */
export const crcTables = (): Uint32Array => (cachedTables ??= tables());

function tables(): Uint32Array {
  const shifts = kernelShifts();
  const all = new Uint32Array((CRC_SHIFTS + shifts.length * CRC_SHIFT_BYTES) / 4);
  // The kernel processes four bytes at once. The first table belongs to the highest byte.
  const bits = shiftOf(4);
  for (let byte = 0; byte < 4; byte++)
    fill(all, ((3 - byte) * CRC_BYTE_BYTES) / 4, bits.subarray(byte * 8, byte * 8 + 8));
  for (const [index, bytes] of shifts.entries()) {
    const ofBits = shiftOf(bytes);
    const at = CRC_SHIFTS + index * CRC_SHIFT_BYTES;
    for (let half = 0; half < 8; half++)
      fill(all, (at + half * CRC_HALF_BYTES) / 4, ofBits.subarray(half * 4, half * 4 + 4));
  }
  return all;
}

/** The numbers of zero bytes by which the kernel's tables shift a CRC, in the order of the tables. */
function kernelShifts(): readonly number[] {
  const all: number[] = [];
  for (let position = 0; position < CRC_DIGITS; position++)
    for (let digit = 1; digit <= CRC_MAX_DIGIT; digit++) all.push(digit * 16 ** position);
  return all;
}

/**
 * For each bit of a CRC: the raw CRC of this bit alone followed by `bytes` zero bytes. The highest bit is the
 * coefficient of x to the power 0.
 */
function shiftOf(bytes: number): Uint32Array {
  const ofBits = new Uint32Array(32);
  let shifted = shiftedCrc(ONE, bytes);
  for (let bit = 31; bit >= 0; bit--) {
    ofBits[bit] = shifted;
    shifted = timesX(shifted);
  }
  return ofBits;
}

/**
 * Fills a table, from the index `at` on, with the results of a linear function. `ofBits` has the function's result
 * for each single bit.
 */
function fill(table: Uint32Array, at: number, ofBits: Uint32Array): void {
  for (let value = 1; value < 2 ** ofBits.length; value++) {
    const lowest = 31 - Math.clz32(value & -value);
    table[at + value] = (table[at + (value & (value - 1))] ?? 0) ^ (ofBits[lowest] ?? 0);
  }
}

// The constant tables of the kernel, at fixed addresses in its memory.
import { MAX_LINES } from './block-shape.js';

/** How many words differed in the last `absorb`. */
export const MOVED_AT = 12;
/** Holds the address of the scales of values: pairs of doubles, multiplier and divisor. */
export const SCALES_CELL = 16;
/** Holds the address of the tables of assembly/crc.ts. */
export const CRC_TABLES_CELL = 24;
/** Holds the address of the table of blocks: the address of each block's header, by its number. */
export const BLOCKS_CELL = 40;
/** Address of the powers of ten: 617 entries of 16 bytes. */
export const POW10_AT = 64;
/** Where the kernel notes what it needs for a moment: assembly/own.ts. */
const OWN_AT = 9936;
/** The sum of the lines that were deflated last: CRC, bytes and bits, u32 each. */
export const RESULT_AT = OWN_AT + 64;
/** The first free byte. */
export const FREE_AT = OWN_AT + 80 + MAX_LINES;

const LOWEST = -292;
const HIGHEST = 324;

/** 10^k as 128 bits, rounded up, scaled so that the highest bit is set (Giulietti 2020, 9.7). */
function power(k: number): bigint {
  const shift = 127 - Math.floor((k * 1741647) / 2 ** 19);
  const ceiling = (n: bigint, d: bigint) => (n + d - 1n) / d;
  const scale = (n: bigint, d: bigint) =>
    shift >= 0 ? ceiling(n << BigInt(shift), d) : ceiling(n, d << BigInt(-shift));
  return k >= 0 ? scale(10n ** BigInt(k), 1n) : scale(1n, 10n ** BigInt(-k));
}

let made: Uint8Array | undefined;

/** Writes the tables into fresh kernel memory. */
export function writeTables(memory: ArrayBufferLike): void {
  made ??= tables();
  new Uint8Array(memory).set(made, POW10_AT);
}

/** The bytes from `POW10_AT` to `FREE_AT`. */
function tables(): Uint8Array {
  const view = new DataView(new ArrayBuffer(FREE_AT));
  for (let k = LOWEST; k <= HIGHEST; k++) {
    const entry = POW10_AT + 16 * (k - LOWEST);
    const g = power(k);
    view.setBigUint64(entry, g >> 64n, true);
    view.setBigUint64(entry + 8, g & 0xffffffffffffffffn, true);
  }
  return new Uint8Array(view.buffer, POW10_AT);
}

// The constant tables of the kernel, at fixed addresses in its memory.
import { FREE_AT, POW10_AT } from './layout.js';

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

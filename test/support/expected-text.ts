// The text that the kernel must write for a value, computed in TypeScript.
import type { Conversion } from '#app/catalogue/row.js';
import { floatText } from '#app/exposition/text/text-syntax.js';
import type { OPCODE } from '#app/exposition/wasm/kernel.js';

export type OpKind = keyof typeof OPCODE;

export const WHOLE: Conversion = { multiply: 1, divide: 1 };

/** The double with these bits. */
export const wide = (bits: bigint): number =>
  new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? NaN;

/** Returns the number that 8 bytes encode, according to the segment format and docs/catalogue.md. */
function numberOf(bits: bigint, kind: OpKind): bigint | number {
  const signed = BigInt.asIntN(64, bits);
  if (kind === 'u64') return bits;
  if (kind === 'f64') return wide(bits);
  if (kind === 'bool') return bits === 0n ? 0n : 1n;
  const isWrapped = kind === 'wrap32' && signed < 0n && signed >= -(2n ** 32n);
  return isWrapped ? signed + 2n ** 32n : signed;
}

export function expectedText(bits: bigint, kind: OpKind, scale: Conversion = WHOLE): string {
  const { multiply, divide } = scale;
  const number = numberOf(bits, kind);
  if (multiply !== 1 || divide !== 1) return floatText((Number(number) * multiply) / divide);
  return typeof number === 'bigint' ? String(number) : floatText(number);
}

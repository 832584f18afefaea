// Decodes the bits of a variable's slot.
import type { Variable } from '../../model.js';
import { OP } from '../kernel/kernel.js';
import type { Op } from '../kernel/kernel.js';
import { numberText } from '../text/number-text.js';

/** True if the value is a frame, and the slot only counts its updates. */
export const isFramed = ({ type }: Variable): boolean =>
  type === 'string' || type === 'histogram' || type === 'summary';

/** How the kernel renders the variable; undefined if it is not a number. */
export function opOf({ type }: Variable, wrap32: boolean): Op | undefined {
  if (type === 'u64') return OP.u64;
  if (type === 'f64') return OP.f64;
  if (type === 'i64') return wrap32 ? OP.wrapped : OP.i64;
  return type === 'bool' ? OP.bool : undefined;
}

/** The value as a double. */
export const numberOf = (bits: bigint, variable: Variable): number =>
  Number(exactOf(bits, variable));

/** The value as a decimal, integers exact. */
export const decimalOf = (bits: bigint, variable: Variable): string =>
  numberText(exactOf(bits, variable));

/** The value itself, integers exact. */
export function exactOf(bits: bigint, { type }: Variable): bigint | number {
  if (type === 'i64') return BigInt.asIntN(64, bits);
  if (type === 'bool') return bits === 0n ? 0n : 1n;
  if (type !== 'f64') return bits;
  return new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? NaN;
}

// Decodes the bits of a variable's slot.
import type { Variable } from '../../model.js';
import { isFramed, scalarType } from '../../published.js';
import { OPCODE } from '../wasm/kernel.js';
import type { Opcode } from '../wasm/kernel.js';
import { numberText } from '../text/text-syntax.js';

/** How the kernel renders the variable; undefined if it is not a number. */
export function opcodeOf({ type }: Variable, wrap32: boolean): Opcode | undefined {
  if (isFramed(type)) return undefined;
  const { bits } = scalarType(type);
  return bits === 'i64' && wrap32 ? OPCODE.wrap32 : OPCODE[bits];
}

/** The value as a double. */
export const numberOf = (bits: bigint, variable: Variable): number =>
  Number(exactOf(bits, variable));

/** The value as a decimal; integers are exact. */
export const decimalOf = (bits: bigint, variable: Variable): string =>
  numberText(exactOf(bits, variable));

/** The value; integers are exact. For a framed variable it is the number of updates. */
export function exactOf(bits: bigint, { type }: Variable): bigint | number {
  const read = isFramed(type) ? 'u64' : scalarType(type).bits;
  if (read === 'i64') return BigInt.asIntN(64, bits);
  if (read === 'bool') return bits === 0n ? 0n : 1n;
  if (read === 'u64') return bits;
  return new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? NaN;
}

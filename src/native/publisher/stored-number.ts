// Which numbers a variable of each type can hold; a store of any other is rejected.

import { scalarType } from '../../published.js';
import type { ScalarType } from '../../published.js';

export type Scalar = number | bigint | boolean;

/** The number that is stored for a value; undefined if the type cannot hold it. */
export function storedNumber(type: ScalarType, value: Scalar): number | bigint | undefined {
  const { range } = scalarType(type);
  return range === undefined ? storedDouble(value) : storedInteger(range, value);
}

/** The integer that is stored for a value; undefined if it is none, or out of range. */
export function storedInteger(
  [least, most]: readonly [bigint, bigint],
  value: Scalar,
): bigint | undefined {
  const integer = integerOf(value);
  if (integer === undefined) return undefined;
  return integer >= least && integer <= most ? integer : undefined;
}

/**
 * The double that is stored for a value, the nearest one for a bigint; undefined if it is not a
 * number.
 */
export function storedDouble(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' || typeof value === 'boolean' ? Number(value) : undefined;
}

/** The value as an integer; undefined if it is none, since JavaScript may pass anything. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

/** Describes what a type allows. */
export function allowedBy(type: ScalarType): string {
  const { range } = scalarType(type);
  if (range === undefined) return `${type} allows numbers`;
  return `${type} allows integers from ${range[0]} to ${range[1]}`;
}

// Folds the values of several inputs into one value: their sum, minimum or maximum.
import type { Frame } from '../model.js';
import type { ValueType } from '../published.js';

export type FoldRule = 'sum' | 'min' | 'max';

/** The value of an input: the 8 bytes of its slot as an unsigned integer, or its frame. */
export type InputValue = bigint | Frame;

const cell = new DataView(new ArrayBuffer(8));

function doubleOf(bits: bigint): number {
  cell.setBigUint64(0, bits);
  return cell.getFloat64(0);
}

function bitsOf(value: number): bigint {
  cell.setFloat64(0, value);
  return cell.getBigUint64(0);
}

/** Folds two doubles. */
export const FOLDS: Readonly<Record<FoldRule, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  // A NaN is no value, unless all inputs are NaN.
  min: (one, other) => (one <= other || Number.isNaN(other) ? one : other),
  max: (one, other) => (one >= other || Number.isNaN(other) ? one : other),
};

/**
 * Folds two values of variables that have one type and one schema. Integers wrap around at 64 bits, as in a segment. A
 * sum of Booleans is true if one of them is. Of two strings, the result is the first one. The result has no quantiles,
 * since the quantiles of several summaries cannot be computed from theirs.
 */
export function fold(
  type: ValueType,
  rule: FoldRule,
  one: InputValue,
  other: InputValue,
): InputValue {
  if (typeof one !== 'bigint') return typeof other === 'bigint' ? one : foldFrames(one, other);
  if (typeof other !== 'bigint') return one;
  if (type === 'f64') return bitsOf(FOLDS[rule](doubleOf(one), doubleOf(other)));
  if (type === 'bool') return rule === 'min' ? one & other : one | other;
  if (rule === 'sum') return BigInt.asUintN(64, one + other);
  const isLess = type === 'i64' ? BigInt.asIntN(64, one) < BigInt.asIntN(64, other) : one < other;
  return isLess === (rule === 'min') ? one : other;
}

function foldFrames(one: Frame, other: Frame): Frame {
  if (one.type === 'histogram' && other.type === 'histogram')
    return {
      type: 'histogram',
      counts: one.counts.map((count, index) => count + (other.counts[index] ?? 0n)),
      sum: one.sum + other.sum,
    };
  if (one.type === 'summary' && other.type === 'summary')
    return {
      type: 'summary',
      count: one.count + other.count,
      sum: one.sum + other.sum,
      values: new Float64Array(),
    };
  return one;
}

/** The sum of doubles in a value, if it has one: the value of a double, or the sum of a distribution. */
export function sumOf(type: ValueType, value: InputValue): number | undefined {
  if (typeof value === 'bigint') return type === 'f64' ? doubleOf(value) : undefined;
  return value.type === 'string' ? undefined : value.sum;
}

/** The relative error of a sum of doubles whose terms are added in another order. */
const ROUNDING = 1e-9;

/**
 * The last sum of doubles if the new one is lower by a rounding error: a scraper would see a reset. Otherwise the new sum.
 */
export const withoutRounding = (sum: number, last: number): number =>
  sum < last && last - sum <= Math.abs(sum) * ROUNDING ? last : sum;

/** The value with another sum of doubles. */
export const withSum = (value: InputValue, sum: number): InputValue =>
  typeof value === 'bigint' ? bitsOf(sum) : value.type === 'string' ? value : { ...value, sum };

/** The value without quantiles. */
export const withoutQuantiles = (value: InputValue): InputValue =>
  typeof value !== 'bigint' && value.type === 'summary'
    ? { ...value, values: new Float64Array() }
    : value;

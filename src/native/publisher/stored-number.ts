// Which numbers a variable of each type holds; a store of any other is refused.

/** Types of variables that are one number. */
export type ScalarType = 'u64' | 'i64' | 'f64' | 'bool';
export type Scalar = number | bigint | boolean;

type IntegerType = Exclude<ScalarType, 'f64'>;

const RANGES: Readonly<Record<IntegerType, readonly [bigint, bigint]>> = {
  u64: [0n, 2n ** 64n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  bool: [0n, 1n],
};

/**
 * The integer that a variable of `type` stores for `value`.
 * @param what names what is stored, for the message: `Variable "sales"`
 * @throws RangeError for a fraction, NaN, an infinity, or an integer that the type does not hold
 */
export function storedInteger(what: string, type: IntegerType, value: Scalar): bigint {
  const integer = integerOf(value);
  const [least, most] = RANGES[type];
  if (integer === undefined || integer < least || integer > most)
    throw new RangeError(
      `${what} cannot be ${String(value)}: ${type} allows integers from ${least} to ${most}`,
    );
  return integer;
}

/**
 * What is added to a variable of `type`: any integer, since the sum alone has to fit.
 * @throws RangeError for a fraction, NaN or an infinity
 */
export function addedInteger(what: string, type: IntegerType, value: Scalar): bigint {
  const integer = integerOf(value);
  if (integer === undefined)
    throw new RangeError(`${what} cannot grow by ${String(value)}: ${type} allows integers`);
  return integer;
}

/** The double for `value`; the nearest one for a bigint. @throws RangeError for what is no number */
export function storedDouble(what: string, value: Scalar): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  throw new RangeError(`${what} cannot be ${String(value)}: f64 allows numbers`);
}

/** Undefined for whatever is no integer; callers in JavaScript may pass anything. */
function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

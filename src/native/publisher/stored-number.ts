// Which numbers a variable of each type can hold; a store of any other is rejected.

/** Types of variables that are one number. */
export type ScalarType = 'u64' | 'i64' | 'f64' | 'bool';
export type IntegerType = Exclude<ScalarType, 'f64'>;
export type Scalar = number | bigint | boolean;

const RANGES: Readonly<Record<IntegerType, readonly [bigint, bigint]>> = {
  u64: [0n, 2n ** 64n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  bool: [0n, 1n],
};

/** The integer that is stored for a value; undefined if the type cannot hold it. */
export function storedInteger(type: IntegerType, value: Scalar): bigint | undefined {
  const integer = integerOf(value);
  if (integer === undefined) return undefined;
  const [least, most] = RANGES[type];
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
  if (type === 'f64') return 'f64 allows numbers';
  const [least, most] = RANGES[type];
  return `${type} allows integers from ${least} to ${most}`;
}

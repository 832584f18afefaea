// Converts a published number to the unit of its metric without adding a rounding error.

/** A value times `multiply`, then divided by `divide`; both are 1 where nothing is converted. */
export interface Conversion {
  readonly multiply: number;
  readonly divide: number;
}

export const UNCHANGED: Conversion = { multiply: 1, divide: 1 };

export const convert = (value: number, { multiply, divide }: Conversion): number =>
  (value * multiply) / divide;

/**
 * The conversion of a scale such as 0.01, 0.000001 or 86400. Decimal fractions become a whole
 * multiplier and a whole divisor: 7 * 0.01 is 0.07000000000000001, 7 / 100 is 0.07.
 */
export function conversionOf(scale: number): Conversion {
  const decimal = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(scale));
  const [, whole = '', fraction = '', exponent = '0'] = decimal ?? [];
  const power = fraction.length - Number(exponent);
  const digits = Number(whole + fraction);
  // Beyond these bounds a product is no longer exact, so plain multiplication is as good.
  if (decimal === null || digits > 1e6 || power > 15 || power < 0)
    return { multiply: scale, divide: 1 };
  const shared = greatestDivisor(digits, 10 ** power);
  return { multiply: digits / shared, divide: 10 ** power / shared };
}

function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

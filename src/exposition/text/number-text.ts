// The text of a value, in plain TypeScript: the oracle of the kernel, and for what is rendered rarely.

/** A number as the exposition formats want it; bigints are exact. */
export const numberText = (x: number | bigint): string =>
  typeof x === 'bigint' ? String(x) : floatText(x);

/** A double as the exposition formats want it: shortest text that reads back as the same value. */
export function floatText(x: number): string {
  if (x === Infinity) return '+Inf';
  if (x === -Infinity) return '-Inf';
  return Object.is(x, -0) ? '-0' : String(x);
}

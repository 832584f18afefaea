// The text of a value in plain TypeScript, for rarely rendered values and as the tests' reference.

/** A number in the exposition formats; bigints are exact. */
export const numberText = (x: number | bigint): string =>
  typeof x === 'bigint' ? String(x) : floatText(x);

/** A double in the exposition formats: the shortest text that reads back as the same value. */
export function floatText(x: number): string {
  if (x === Infinity) return '+Inf';
  if (x === -Infinity) return '-Inf';
  return Object.is(x, -0) ? '-0' : String(x);
}

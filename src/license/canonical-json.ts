// The canonical form of JSON (RFC 8785): every writer gives the same text for a value.

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Object.getPrototypeOf(value);
  return kind === Object.prototype || kind === null;
}

/** JSON numbers are finite, and a lone surrogate has no UTF-8 to be signed. */
const isScalar = (value: unknown): boolean =>
  value === null ||
  typeof value === 'boolean' ||
  Number.isFinite(value) ||
  (typeof value === 'string' && !/\p{Surrogate}/u.test(value));

/**
 * The canonical text of `value`: no blanks, member names in order of their UTF-16 code units.
 * @throws TypeError for values that JSON cannot represent: undefined, NaN, a bigint, a lone
 *   surrogate, a Date …
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value))
    return `[${Array.from(value, (item: unknown) => canonicalJson(item)).join(',')}]`;
  if (isObject(value)) {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${canonicalJson(name)}:${canonicalJson(value[name])}`).join(',')}}`;
  }
  if (isScalar(value)) return JSON.stringify(value);
  throw new TypeError(`JSON cannot carry ${String(value)}`);
}

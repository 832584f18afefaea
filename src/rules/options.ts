// Checks the options and arguments that a program in JavaScript passes to a function.
import { keyPath, shown } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { rule } from './rule.js';
import type { Rule } from './rule.js';

export type OptionRules = Readonly<Record<string, Rule<unknown>>>;

/**
 * Checks an object of options. An undefined option counts as absent.
 * @param of the function or option that has these options, for messages
 * @throws RangeError for the first option that is unknown, invalid or missing
 */
export function checkOptions(
  of: string,
  options: unknown,
  rules: OptionRules,
  required: readonly string[] = [],
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new RangeError(`${of}: found ${shownValue(options)}, allowed: an object with options`);
  const known = Object.keys(rules);
  for (const [key, value] of Object.entries(options)) {
    const rule = known.includes(key) ? rules[key] : undefined;
    if (rule === undefined) {
      const rest = hint(key, known) || `, allowed: ${known.join(', ')}`;
      throw new RangeError(`${of}: unknown option ${shown(key)}${rest}`);
    }
    if (value !== undefined) checkValue(`${of}: ${key}`, value, rule);
  }
  const values = new Map<string, unknown>(Object.entries(options));
  for (const key of required) checkValue(`${of}: ${key}`, values.get(key), rules[key]);
}

/** Checks one value. @throws RangeError for a value that the rule refuses */
export function checkValue(name: string, value: unknown, rule: Rule<unknown> | undefined): void {
  rule?.read(rawOf(value), [], (path, sentence) => {
    const inJavaScript = sentence.replace(TOML_VALUE, (word) => VALUES.get(word) ?? word);
    throw new RangeError(`${name}${keyPath(path)}: ${inJavaScript}`);
  });
}

/** Rules expect integers as bigint, the type that the TOML parser returns. */
const rawOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rawOf);
  return Number.isSafeInteger(value) ? BigInt(Number(value)) : value;
};

/** The JavaScript names of values that messages of rules name as TOML does. */
const VALUES = new Map([
  ['a table', 'an object'],
  ['nan', 'NaN'],
  ['inf', 'Infinity'],
  ['-inf', '-Infinity'],
]);
const TOML_VALUE = /(?<=^found )(?:a table|nan|-?inf)\b/;

/** A caller's value, as messages show it. */
export const shownValue = (value: unknown): string => {
  if (typeof value === 'number') return String(value);
  const text = shown(value);
  return VALUES.get(text) ?? text;
};

/** An object of nested options, which the caller checks with `checkOptions`. */
export const anyOptions = rule('table', 'an object with options', (raw) =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? raw : undefined,
);

export const callback = rule('function', 'a function', (raw) =>
  typeof raw === 'function' ? raw : undefined,
);

export const utf8 = (most: number): Rule<string> =>
  rule('string', `a string of at most ${most} bytes of UTF-8`, (raw) =>
    typeof raw === 'string' && fitsUtf8(raw, most) ? raw : undefined,
  );

/** A UTF-16 unit takes at most three bytes, so the bytes of most texts need not be counted. */
const fitsUtf8 = (text: string, most: number): boolean =>
  text.length * 3 <= most || Buffer.byteLength(text) <= most;

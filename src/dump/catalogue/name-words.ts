// The words of metric names, without those that Prometheus's linter objects to.
import { metricNamePart } from '../../catalogue/names.js';

/** Types and abbreviated units: a name does not have them. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['counter', 'gauge', 'histogram', 'summary', 'untyped'],
  ...['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'pb', 'm', 'h', 'd'],
]);

/** Units that are not the base unit; the linter takes the words for units wherever they stand. */
const NOT_BASE =
  /^(pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mibi|giga|gibi|tera|tebi|peta|pebi)?(minutes|hours|days|weeks|kelvins|fahrenheit|rankine|inches|yards|miles|bits|calories|pounds|ounces)$/;
const PREFIXED =
  /^(pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mibi|giga|gibi|tera|tebi|peta|pebi)(amperes|bytes|celsius|grams|joules|kelvin|meters|metres|moles|seconds|volts)$/;

/** Last words that only some types may have, and what says about the same. */
const LAST: Readonly<Record<string, string>> = {
  total: 'all',
  info: 'information',
  count: 'number',
  sum: 'amount',
  bucket: 'buckets',
  created: 'creations',
};

/** In snake case; a word that may not stand in a name is left out, or without its plural. */
export const nameWords = (text: string): readonly string[] =>
  metricNamePart(text)
    .split('_')
    .filter((word) => word !== '' && !REFUSED.has(word))
    .map((word) => (NOT_BASE.test(word) || PREFIXED.test(word) ? word.replace(/s$/, '') : word));

/** The words with a last one that every type may have. */
export function withFreeEnding(words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? '';
  return Object.hasOwn(LAST, last) ? [...words.slice(0, -1), LAST[last] ?? last] : words;
}

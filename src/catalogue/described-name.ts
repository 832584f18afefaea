// The metric name of a variable without a catalogue row, from what its publisher says of it.
import type { MetricType } from '../model.js';
import { metricNamePart } from './names.js';

/** What a name is made of; everything but the type is as the publisher writes it. */
export interface Described {
  readonly app: string;
  readonly className: string;
  readonly variable: string;
  /** Empty for none. */
  readonly unit: string;
  readonly type: MetricType;
}

/** The base units of Prometheus, as its page on naming has them. */
export const BASE_UNITS: ReadonlySet<string> = new Set([
  'amperes',
  'bytes',
  'celsius',
  'grams',
  'joules',
  'kelvin',
  'kelvins',
  'meters',
  'ratio',
  'seconds',
  'volts',
]);

const ENDINGS: Readonly<Partial<Record<MetricType, string>>> = { counter: 'total', info: 'info' };

/**
 * The words of application, class and variable in snake case. Words with which one of them ends and the
 * next begins occur once. A base unit follows that no word of class or variable names, and
 * then the ending of the type.
 */
export function describedName({ app, className, variable, unit, type }: Described): string {
  const own = [className, variable].map(wordsOf);
  const words = own.reduce(joined, wordsOf(app));
  const ending = ENDINGS[type];
  if (words.at(-1) === ending) words.pop();
  if (type !== 'info' && BASE_UNITS.has(unit) && !own.flat().includes(unit)) words.push(unit);
  if (ending !== undefined) words.push(ending);
  // Scopes select the metrics of an application by its name and what follows.
  return words.length > wordsOf(app).length ? words.join('_') : [...words, 'value'].join('_');
}

const wordsOf = (text: string): string[] => metricNamePart(text).split('_').filter(Boolean);

/** The second behind the first, without the words with which the first ends already. */
function joined(first: readonly string[], second: readonly string[]): string[] {
  const isShared = (count: number) =>
    second.slice(0, count).every((word, index) => first[first.length - count + index] === word);
  let shared = Math.min(first.length, second.length);
  while (!isShared(shared)) shared--;
  return [...first, ...second.slice(shared)];
}

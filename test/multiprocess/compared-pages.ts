// Compares pages series by series: names, labels, types, help and values. It uses no code of the product.
import { samplesOf, seriesKey } from '../end-to-end/page.js';

export interface Family {
  readonly type: string;
  readonly help: string;
  /** The values by `seriesKey`. */
  readonly series: Map<string, number>;
}
export type Families = ReadonlyMap<string, Family>;

/** The families of a page, by name. Throws if a series is outside its family, or occurs twice. */
export function familiesOf(page: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const helps = new Map<string, string>();
  let name = '';
  for (const line of page.split('\n')) {
    const [, keyword, of = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') helps.set(of, unescaped(rest));
    if (keyword === 'TYPE') {
      if (families.has(of)) throw new Error(`${of} is there twice`);
      families.set(of, { type: rest, help: helps.get(of) ?? '', series: new Map() });
      name = of;
    }
    if (line === '' || line.startsWith('#')) continue;
    const series = families.get(name)?.series;
    for (const sample of samplesOf(line)) {
      if (series === undefined || !sample.name.startsWith(name))
        throw new Error(`${sample.name} is outside its family: ${line}`);
      const key = seriesKey(sample.name, sample.labels);
      if (series.has(key)) throw new Error(`${key} is there twice`);
      series.set(key, numberOf(sample.value));
    }
  }
  return families;
}

/** The families with each label `le` as the text of its number: libraries write 1 or 1.0. */
export const withNumericBounds = (families: Families): Families =>
  new Map(
    [...families].map(([name, family]) => {
      const series = [...family.series].map(([key, value]) => {
        const at = key.indexOf('{');
        const { le, ...others } = JSON.parse(key.slice(at)) as Record<string, string>;
        const labels = le === undefined ? others : { ...others, le: String(numberOf(le)) };
        return [seriesKey(key.slice(0, at), labels), value] as const;
      });
      return [name, { ...family, series: new Map(series) }];
    }),
  );

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));

/** A number of the text format. Ruby's library prints `Inf`. */
export function numberOf(text: string): number {
  if (/^[+-]?Inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (text !== 'NaN' && !/^[-+\d.e]+$/i.test(text)) throw new Error(`no number: ${text}`);
  return Number(text);
}

/** The differences between two pages, a line each; empty if they show the same. Families without series do not count. */
export function differences(expected: Families, shown: Families): string[] {
  const found: string[] = [];
  const full = (families: Families, name: string): Family | undefined => {
    const family = families.get(name);
    return family === undefined || family.series.size === 0 ? undefined : family;
  };
  for (const name of new Set([...expected.keys(), ...shown.keys()])) {
    const [theirs, ours] = [full(expected, name), full(shown, name)];
    if (theirs === undefined && ours === undefined) continue;
    if (theirs === undefined || ours === undefined) {
      found.push(
        `${name}: ${theirs === undefined ? 'only the exporter' : 'only the library'} has it`,
      );
      continue;
    }
    for (const what of ['type', 'help'] as const)
      if (theirs[what] !== ours[what])
        found.push(
          `${name}: ${what} ${JSON.stringify(ours[what])}, not ${JSON.stringify(theirs[what])}`,
        );
    for (const key of new Set([...theirs.series.keys(), ...ours.series.keys()])) {
      const [right, value] = [theirs.series.get(key), ours.series.get(key)];
      if (right === undefined || value === undefined || !isSame(right, value))
        found.push(`${key}: ${String(value)}, not ${String(right)}`);
    }
  }
  return found;
}

/** Whether two values are equal as doubles. -0 and 0 are equal. */
const isSame = (a: number, b: number): boolean => a === b || (Number.isNaN(a) && Number.isNaN(b));

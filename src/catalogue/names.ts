// Checks the names of metrics and labels, and makes the names of metrics without a row.
import type { FamilyMetadata, MetricType } from '../model.js';

/** Labels that Prometheus, a scrape configuration or the exposition formats set themselves. */
const RESERVED_LABELS: readonly string[] = ['instance', 'job', 'le', 'quantile'];

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Name endings, each with a metric type. Metrics of that type must have the ending; all other metrics must not. */
const ENDINGS: Readonly<Record<string, MetricType>> = {
  _total: 'counter',
  _info: 'info',
};
const SERIES_ENDINGS = ['_bucket', '_sum', '_count', '_created'];

/** The prefix of every metric of an application, such as `ads_`. */
export const prefixOf = (app: string): string => `${app.replace(/[^a-zA-Z0-9_]/g, '_')}_`;

/** Letters, digits and symbols that a metric name cannot have. */
const FOREIGN = /(?:(?!\p{ASCII})[\p{L}\p{M}\p{N}\p{S}])+/gu;

/** Replaces each character by `u` and its hexadecimal code point, so that different texts stay different. */
const numbered = (text: string): string =>
  Array.from(text, (each) => `u${each.codePointAt(0)?.toString(16)}`).join('');

/** A text as part of a metric name: snake case, of letters, digits and underscores. */
export const metricNamePart = (text: string): string =>
  text
    .replace(FOREIGN, (each) => `_${numbered(each)}_`)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();

/** The reason why `label` is not a valid label name; undefined if it is valid. */
export function labelProblem(label: string): string | undefined {
  const text = JSON.stringify(label);
  if (!NAME.test(label)) return `${text} is not a label name, allowed: letters, digits and _`;
  if (label.startsWith('__')) return `${text} is reserved: label names must not begin with __`;
  if (RESERVED_LABELS.includes(label))
    return `${text} is a reserved label, as are ${RESERVED_LABELS.join(', ')}`;
  return undefined;
}

/** Name, type and unit of a metric; the type is undefined if it is invalid. */
type NamedMetric = Pick<FamilyMetadata, 'name' | 'unit'> & {
  readonly type: MetricType | undefined;
};

/** All problems with the name and unit of a metric of `app`. */
export function nameProblems({ name, type, unit }: NamedMetric, app: string): readonly string[] {
  const text = JSON.stringify(name);
  const problems: string[] = [];
  if (!NAME.test(name)) return [`${text} is not a metric name, allowed: letters, digits and _`];
  if (!name.startsWith(prefixOf(app))) problems.push(`${text} must begin with ${prefixOf(app)}`);
  if (name.startsWith('shm_exporter_'))
    problems.push(`${text} must not begin with shm_exporter_, as the exporter's own metrics do`);
  for (const [ending, owner] of Object.entries(type === undefined ? {} : ENDINGS)) {
    if (type === owner && !name.endsWith(ending))
      problems.push(`${text} has type ${type} and must end in ${ending}`);
    if (type !== owner && name.endsWith(ending))
      problems.push(`${text} has type ${type}; only metrics of type ${owner} may end in ${ending}`);
  }
  for (const ending of SERIES_ENDINGS)
    if (name.endsWith(ending)) problems.push(`${text} must not end in ${ending}`);
  if (unit !== '' && (type === 'info' || type === 'stateset'))
    problems.push(`${text} has type ${type} and cannot have a unit`);
  else if (unit !== '' && !name.replace(/_total$/, '').endsWith(`_${unit}`))
    problems.push(
      `the unit ${JSON.stringify(unit)} must be the last word of ${text}, apart from _total`,
    );
  return problems;
}

/** The names of the series and OpenMetrics families that a metric occupies. */
export function namesTaken({ name, type }: FamilyMetadata): readonly string[] {
  switch (type) {
    case 'counter':
      return [name, name.replace(/_total$/, ''), name.replace(/_total$/, '_created')];
    case 'info':
      return [name, name.replace(/_info$/, '')];
    case 'histogram':
      return ['', '_bucket', '_sum', '_count', '_created'].map((ending) => name + ending);
    case 'summary':
      return ['', '_sum', '_count', '_created'].map((ending) => name + ending);
    default:
      return [name];
  }
}

/**
 * The names of a metric that no other metric of the same page may have. Omits names that counter and info metrics
 * occupy only in OpenMetrics. In OpenMetrics, another metric with one of these omitted names gets the type unknown.
 */
export const unsharedNames = (metadata: FamilyMetadata): readonly string[] =>
  metadata.type === 'counter' || metadata.type === 'info' ? [metadata.name] : namesTaken(metadata);

/** The metrics of a page by their unshared names. */
export class NameOwners {
  readonly #owners = new Map<string, FamilyMetadata>();

  add(metadata: FamilyMetadata): void {
    for (const name of unsharedNames(metadata)) this.#owners.set(name, metadata);
  }

  delete(metadata: FamilyMetadata): void {
    for (const name of unsharedNames(metadata)) this.#owners.delete(name);
  }

  /**
   * The reason why a metric cannot be added, because another metric has one of its names; empty if it can be added.
   */
  refusalOf(metadata: FamilyMetadata): string {
    for (const taken of unsharedNames(metadata)) {
      const owner = this.#owners.get(taken);
      if (owner === undefined) continue;
      const { name, type } = owner;
      if (name !== metadata.name) return `the name ${taken} belongs to the ${type} metric ${name}`;
      if (type !== metadata.type) return `the same metric already has the type ${type}`;
    }
    return '';
  }
}

/** The parts of the name of a metric without a row. All but the type are as the publisher writes them. */
export interface DeclaredNameParts {
  readonly app: string;
  readonly className: string;
  readonly variable: string;
  readonly unit: string;
  readonly type: MetricType;
}

/** The base units that the documentation of Prometheus lists for metric names. */
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

const UNIT_ENDINGS: Readonly<Partial<Record<MetricType, string>>> = {
  counter: 'total',
  info: 'info',
};

/**
 * The words of application, class and variable in snake case, followed by the base unit and the ending of the type.
 * Leaves out words that would occur twice where two parts meet, and a unit that the class or variable already
 * contains.
 */
export function declaredName({ app, className, variable, unit, type }: DeclaredNameParts): string {
  const own = [className, variable].map(wordsOf);
  const words = own.reduce(joined, wordsOf(app));
  const ending = UNIT_ENDINGS[type];
  if (words.at(-1) === ending) words.pop();
  if (type !== 'info' && BASE_UNITS.has(unit) && !own.flat().includes(unit)) words.push(unit);
  if (ending !== undefined) words.push(ending);
  // Patterns of scopes, such as `ads_*`, need a word after the application's name.
  return words.length > wordsOf(app).length ? words.join('_') : [...words, 'value'].join('_');
}

const wordsOf = (text: string): string[] => metricNamePart(text).split('_').filter(Boolean);

/** Appends `second` to `first`, without the words that `first` already ends with. */
function joined(first: readonly string[], second: readonly string[]): string[] {
  const isShared = (count: number) =>
    second.slice(0, count).every((word, index) => first[first.length - count + index] === word);
  let shared = Math.min(first.length, second.length);
  while (!isShared(shared)) shared--;
  return [...first, ...second.slice(shared)];
}

// Drafts the metric of a variable, from its declaration and the words of its name.
import { declaredName, metricNamePart, prefixOf } from '../../catalogue/names.js';
import type { Declaration, FamilyMetadata, MetricType } from '../../model.js';

/** A base unit, and the factor that converts values to it. */
interface Measure {
  readonly unit: string;
  readonly scale: number;
}

const inUnit =
  (unit: string) =>
  (scale: number, ...words: readonly string[]): readonly (readonly [string, Measure])[] =>
    words.map((word) => [word, { unit, scale }]);

const seconds = inUnit('seconds');
const bytes = inUnit('bytes');
const ratio = inUnit('ratio');
const celsius = inUnit('celsius');
const volts = inUnit('volts');

/** The measure for a declared unit, or for a word of a variable's name. Keys are in lower case. */
const MEASURES: ReadonlyMap<string, Measure> = new Map([
  ...seconds(1, 'seconds', 'second', 'secs', 'sec', 's'),
  ...seconds(0.001, 'milliseconds', 'millisecond', 'millis', 'msecs', 'msec', 'ms'),
  ...seconds(0.000001, 'microseconds', 'microsecond', 'micros', 'usecs', 'usec', 'us', 'µs'),
  ...seconds(0.000000001, 'nanoseconds', 'nanosecond', 'nanos', 'nsecs', 'nsec', 'ns'),
  ...seconds(60, 'minutes', 'mins'),
  ...seconds(3600, 'hours', 'hrs'),
  ...seconds(86_400, 'days'),
  ...bytes(1, 'bytes', 'byte'),
  ...bytes(0.125, 'bits', 'bit'),
  ...bytes(1000, 'kilobytes', 'kilobyte'),
  ...bytes(1e6, 'megabytes', 'megabyte'),
  ...bytes(1e9, 'gigabytes', 'gigabyte'),
  ...bytes(1024, 'kibibytes', 'kib', 'kb', 'kbytes'),
  ...bytes(1_048_576, 'mebibytes', 'mib', 'mb', 'mbytes'),
  ...bytes(1_073_741_824, 'gibibytes', 'gib', 'gb', 'gbytes'),
  ...ratio(1, 'ratio', 'ratios', 'fraction'),
  ...ratio(0.01, 'percent', 'percents', 'percentage', 'pct', '%'),
  ...celsius(1, 'celsius', '°c'),
  ...volts(1, 'volts', 'volt'),
  ...volts(0.001, 'millivolts', 'millivolt'),
]);

const measureOf = (word: string): Measure | undefined => MEASURES.get(word.trim().toLowerCase());

/** Words that are ambiguous in names: they count as units only if the variable declares them as its unit. */
const NOT_IN_NAMES: ReadonlySet<string> = new Set(['s', 'us', 'bit', 'bits', 'second', 'fraction']);

/** The unit for a word of a variable's name; undefined if the word is no unit. */
const measureInName = (word: string): Measure | undefined =>
  NOT_IN_NAMES.has(word) ? undefined : measureOf(word);

/** Metric types and abbreviated units, which promtool refuses in metric names. */
const REFUSED: ReadonlySet<string> = new Set([
  ...['counter', 'gauge', 'histogram', 'summary', 'untyped'],
  ...['s', 'ms', 'us', 'ns', 'sec', 'b', 'kb', 'mb', 'gb', 'tb', 'pb', 'm', 'h', 'd'],
]);

/** Matches units that are not base units. Promtool refuses such units anywhere in a metric name. */
const NOT_BASE =
  /^(pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mibi|giga|gibi|tera|tebi|peta|pebi)?(minutes|hours|days|weeks|kelvins|fahrenheit|rankine|inches|yards|miles|bits|calories|pounds|ounces)$/;
const PREFIXED =
  /^(pico|nano|micro|milli|centi|deci|deca|hecto|kilo|kibi|mega|mibi|giga|gibi|tera|tebi|peta|pebi)(amperes|bytes|celsius|grams|joules|kelvin|meters|metres|moles|seconds|volts)$/;

/** Suffixes that Prometheus reserves for some metric types, each with its replacement. */
const LAST: Readonly<Record<string, string>> = {
  total: 'all',
  info: 'information',
  count: 'number',
  sum: 'amount',
  bucket: 'buckets',
  created: 'creations',
};

/**
 * Splits a name into snake-case words. Omits each word that promtool refuses; puts a unit into the singular if
 * promtool refuses only its plural.
 */
const nameWords = (text: string): readonly string[] =>
  metricNamePart(text)
    .split('_')
    .filter((word) => word !== '' && !REFUSED.has(word))
    .map((word) => (NOT_BASE.test(word) || PREFIXED.test(word) ? word.replace(/s$/, '') : word));

/** Replaces the last word if it is a reserved suffix. */
function withFreeEnding(words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? '';
  return Object.hasOwn(LAST, last) ? [...words.slice(0, -1), LAST[last] ?? last] : words;
}

/** Matches words that suggest a gauge. One such word outweighs all words that suggest a counter. */
const GAUGE_WORDS =
  /^(active|age|allocated|available|average|avg|backlog|busy|capacity|configured|current|depth|enabled|fill|free|idle|is|last|latency|length|level|limit|load|max|maximum|mean|min|minimum|mode|num|number|open|outstanding|peak|pending|percent|percentage|pid|pool|port|priority|queue|queued|rate|ratio|remaining|running|size|state|status|temperature|threshold|usage|use|used|utilization|version|waiting|warm)$/;
/** Matches words that suggest a counter. */
const COUNTER_WORDS =
  /^(accepted|accesses|acks|attempts|bytes|calls|closed|closes|collisions|completed|connects|count|created|delayed|deleted|delivered|denials|discarded|disconnects|dropped|drops|dups|errors|events|executed|expired|failed|failures|faults|filtered|forwarded|handled|hits|in|logins|logouts|lost|merged|messages|misses|msgs|naks|opened|opens|operations|ops|out|overflows|packets|polls|processed|published|rcvd|read|reads|rebooted|reboots|received|recv|refused|rejected|rejections|replies|requests|resets|responses|restarts|resyncs|retransmits|retries|sales|sent|served|sold|stalls|started|timeouts|total|totals|transmitted|tx|rx|updates|writes|written)$/;

/** @param words the words of a name, in lower case */
function numberType(words: readonly string[]): 'counter' | 'gauge' {
  if (words.some((word) => GAUGE_WORDS.test(word))) return 'gauge';
  return words.some((word) => COUNTER_WORDS.test(word)) ? 'counter' : 'gauge';
}

/** The class whose metrics are drafted. */
export interface DraftedClass {
  readonly app: string;
  readonly alias: string;
}

interface MetricDraft extends Omit<FamilyMetadata, 'help'> {
  /** The factor that converts values to the unit. */
  readonly scale: number;
  /** The guessed parts, each in a few words. */
  readonly guesses: readonly string[];
}

export type DeclaredMetric = Pick<Declaration, 'name' | 'type' | 'kind' | 'unit'>;

/**
 * Drafts the metric of a number or a distribution.
 * @param number added to the name if it is above 1, so that metrics with the same words have different names
 */
export function metricDraft(
  declared: DeclaredMetric,
  drafted: DraftedClass,
  number = 1,
): MetricDraft {
  const said = wordsOf(declared.name);
  const { type, typeGuess } = typeOf(declared, said);
  const { unit, scale, unitGuess, unitWord } = unitOf(declared, said);
  const rest = nameWords(said.filter((word) => word !== unitWord).join('_'));
  // The suffix of a counter is added below.
  const words = type === 'counter' ? rest.filter((word) => word !== 'total') : withFreeEnding(rest);
  const name = nameWithUnit(drafted, { words, number, unit, type });
  return { name, type, unit, scale, guesses: [typeGuess, unitGuess].filter(Boolean) };
}

/** The name of a metric of a class, with the prefix of the application. */
export function draftedName(
  { app, alias }: DraftedClass,
  variable: string,
  type: MetricType,
): string {
  const className = withFreeEnding(nameWords(alias)).join('_') || 'class';
  const name = declaredName({ app, className, variable, unit: '', type });
  return `${prefixOf(app)}${name.slice(metricNamePart(app).length + 1)}`;
}

/** The name of a metric whose value is a point in time. */
export const nameOfTime = (variable: string, drafted: DraftedClass, number = 1): string =>
  nameWithUnit(drafted, { words: nameWords(variable), number, unit: 'seconds', type: 'gauge' });

interface NameParts {
  readonly words: readonly string[];
  readonly number: number;
  readonly unit: string;
  readonly type: MetricType;
}

function nameWithUnit(drafted: DraftedClass, { words, number, unit, type }: NameParts): string {
  const own = [...words, ...(number > 1 ? [number] : []), ...wordsOf(unit)];
  const name = draftedName(drafted, own.join('_'), type);
  // A word that is in both the class and the unit occurs only once in the name, so the name may not end with the
  // unit.
  if (unit === '' || name.replace(/_total$/, '').endsWith(`_${unit}`)) return name;
  return draftedName(drafted, ['value', ...own].join('_'), type);
}

const wordsOf = (text: string): readonly string[] =>
  metricNamePart(text).split('_').filter(Boolean);

function typeOf(
  { type, kind }: DeclaredMetric,
  said: readonly string[],
): { readonly type: MetricType; readonly typeGuess: string } {
  if (type === 'histogram' || type === 'summary') return { type, typeGuess: '' };
  if (kind !== 'unknown') return { type: kind, typeGuess: '' };
  if (type === 'bool') return { type: 'gauge', typeGuess: '' };
  // Most counters are integers, so a floating-point number is a gauge unless its name contains `total`.
  const guessed = type === 'f64' && !said.includes('total') ? 'gauge' : numberType(said);
  return { type: guessed, typeGuess: `a ${guessed}, judging by its name` };
}

interface UnitDraft {
  /** The base unit; empty if the metric has no unit. */
  readonly unit: string;
  readonly scale: number;
  readonly unitGuess: string;
  /** The word of the variable's name that gives the unit. */
  readonly unitWord: string | undefined;
}

function unitOf({ type, unit }: DeclaredMetric, said: readonly string[]): UnitDraft {
  if (unit.trim() !== '') return declaredUnit(unit, said);
  if (type === 'bool') return NO_UNIT;
  const unitWord = said.find((word) => measureInName(word) !== undefined);
  const measure = unitWord === undefined ? undefined : measureInName(unitWord);
  if (unitWord === undefined || measure === undefined) return NO_UNIT;
  return {
    ...measure,
    unitWord,
    unitGuess: guessOf(unitWord, measure.unit, 'judging by its name'),
  };
}

const NO_UNIT: UnitDraft = { unit: '', scale: 1, unitGuess: '', unitWord: undefined };

function declaredUnit(unit: string, said: readonly string[]): UnitDraft {
  const measure = measureOf(unit);
  if (measure === undefined) {
    const own = withFreeEnding(nameWords(unit)).join('_');
    // Whether the variable's name already ends with the unit.
    const isLast = own !== '' && said.at(-1) === own;
    return { unit: own, scale: 1, unitGuess: '', unitWord: isLast ? own : undefined };
  }
  const unitWord = said.find((word) => measureOf(word)?.unit === measure.unit);
  const isConverted = measure.scale !== 1;
  return {
    ...measure,
    unitWord,
    unitGuess: isConverted ? guessOf(unit, measure.unit, 'as declared') : '',
  };
}

const guessOf = (from: string, to: string, why: string): string =>
  from === to ? `${to}, ${why}` : `${to}, converted from ${from}, ${why}`;

// The units that publishers write, and the base units of Prometheus that they are converted to.

/** What a value is multiplied with to be in the unit. */
export interface Measure {
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

/** By a declared unit, or a word of a name, in lower case. */
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

export const measureOf = (word: string): Measure | undefined =>
  MEASURES.get(word.trim().toLowerCase());

/** Words of names that are no units: too short, or mostly something else. */
const NOT_IN_NAMES: ReadonlySet<string> = new Set(['s', 'us', 'bit', 'bits', 'second', 'fraction']);

/** The same for a word of a variable's name. */
export const measureInName = (word: string): Measure | undefined =>
  NOT_IN_NAMES.has(word) ? undefined : measureOf(word);

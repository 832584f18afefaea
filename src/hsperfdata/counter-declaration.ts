// What the format says of a counter, in the words of the model.
import type { Declaration, VariableKind } from '../model.js';
import { UNIT, VARIABILITY } from './layout.js';
import type { PerfEntry } from './perf-entries.js';

/** Counters whose entries state a unit that is not theirs. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['sun.cls.defineAppClasses', UNIT.events],
  ['sun.ci.threads', UNIT.none],
]);

/** Units of the values as they are shown: ticks become nanoseconds. */
const UNIT_TEXTS: Readonly<Record<number, string>> = {
  [UNIT.bytes]: 'bytes',
  [UNIT.ticks]: 'nanoseconds',
  [UNIT.hertz]: 'hertz',
};

/** The unit of a counter, one of `UNIT` or another number. */
export const unitOf = ({ name, unit }: PerfEntry): number => UNITS.get(name) ?? unit;

/** A variable of this name; a number has the type that is given. */
export function declarationOf(
  entry: PerfEntry,
  variable: string,
  number: 'i64' | 'f64',
): Declaration {
  const isText = entry.type === 'text';
  return {
    name: variable,
    type: isText ? 'string' : number,
    kind: isText ? 'unknown' : kindOf(entry.variability),
    unit: isText ? '' : (UNIT_TEXTS[unitOf(entry)] ?? ''),
    help: '',
    schema: [],
  };
}

function kindOf(variability: number): VariableKind {
  if (variability === VARIABILITY.monotonic) return 'counter';
  return variability === VARIABILITY.variable || variability === VARIABILITY.constant
    ? 'gauge'
    : 'unknown';
}

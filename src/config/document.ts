// A configuration file as read, and the check of its values against a rule.
import { Fault } from '../errors.js';
import { keyPath } from './key-path.js';
import type { Report, Rule } from './rule.js';
import type { Places } from './places.js';

/** Raw values of a file, and where each of them stands. */
export interface Document {
  readonly values: Readonly<Record<string, unknown>>;
  readonly places: Places;
}

/** A complaint about a file, and the offset that it is about. */
export interface Problem {
  readonly offset: number;
  readonly text: string;
}

/** A file with thousands of faults has one cause, and nobody reads thousands of lines. */
const MOST_SHOWN = 100;

/**
 * The values of a document in the shape of `rule`.
 * @throws Fault CONFIG_INVALID with one line a problem, in the order of the file
 */
export function checked<T>({ values, places }: Document, rule: Rule<T>): T {
  const problems: Problem[] = [];
  const report: Report = (path, sentence, mark) => {
    const offset = places.offset(path, mark ?? 'value') ?? 0;
    problems.push({ offset, text: `${keyPath(path)}: ${sentence}` });
  };
  const value = rule.read(values, [], report);
  if (value === undefined || problems.length > 0) throw invalid(places, problems);
  return value;
}

/** The fault that tells all problems of a file. */
export function invalid(places: Places, problems: readonly Problem[]): Fault {
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  const lines = sorted
    .slice(0, MOST_SHOWN)
    .map(({ offset, text }) => `${places.at(offset)}: ${text}`);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`${places.file}: and ${more} more problems`);
  return new Fault('CONFIG_INVALID', lines.join('\n'));
}

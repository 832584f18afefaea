// A file of settings as read, and what is wrong with it.
import { Fault } from '../errors.js';
import { keyPath } from './key-path.js';
import type { Path } from './key-path.js';
import type { Mark, Places } from './places.js';

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
const MAX_SHOWN = 100;

/** A complaint about the value of `path`, or about its key when `mark` says so. */
export function problemAt(
  places: Places,
  path: Path,
  sentence: string,
  mark: keyof Mark = 'value',
): Problem {
  const offset = places.offset(path, mark) ?? 0;
  return { offset, text: path.length === 0 ? sentence : `${keyPath(path)}: ${sentence}` };
}

/** The fault that tells all problems of a file, in the order of the file. */
export function invalid(places: Places, problems: readonly Problem[]): Fault {
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  const lines = sorted
    .slice(0, MAX_SHOWN)
    .map(({ offset, text }) => `${places.at(offset)}: ${text}`);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`${places.file}: and ${more} more problems`);
  return new Fault('CONFIG_INVALID', lines.join('\n'));
}

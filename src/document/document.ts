// A settings file as read, and its problems.
import { Fault } from '../errors.js';
import { keyPath } from './key-path.js';
import type { Path } from './key-path.js';
import type { Mark, Places } from './places.js';

/** The raw values of a file, and the position of each. */
export interface Document {
  readonly values: Readonly<Record<string, unknown>>;
  readonly places: Places;
}

/** A problem of a file, and its offset. */
export interface Problem {
  readonly offset: number;
  readonly text: string;
}

/** Thousands of faults have one cause, and thousands of lines are of no use. */
const MAX_SHOWN = 100;

/** A problem of the value at `path`, or of its key if `mark` says so. */
export function problemAt(
  places: Places,
  path: Path,
  sentence: string,
  mark: keyof Mark = 'value',
): Problem {
  const offset = places.offset(path, mark) ?? 0;
  return { offset, text: path.length === 0 ? sentence : `${keyPath(path)}: ${sentence}` };
}

/** The fault that reports all problems of a file, in the order of the file. */
export function invalid(places: Places, problems: readonly Problem[]): Fault {
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  const lines = sorted
    .slice(0, MAX_SHOWN)
    .map(({ offset, text }) => `${places.at(offset)}: ${text}`);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`${places.file}: and ${more} more problems`);
  return new Fault('CONFIG_INVALID', lines.join('\n'));
}

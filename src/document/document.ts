// A settings file as read, and its problems.
import { Fault } from '../errors.js';
import type { Places } from './places.js';

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

// One segment of a path pattern: a literal, or a label that captures the text there.
import { Fault } from '../../errors.js';
import { labelProblem } from '../names.js';
import { compileRestriction } from './restriction.js';

/** Matches whole segments only. `label` is undefined for a literal, `literal` for a label. */
export interface Segment {
  readonly label: string | undefined;
  readonly literal: string | undefined;
  readonly matches: (text: string) => boolean;
}

const PLACEHOLDER = /^\{([^{}~]*)(?:~([^{}]*))?\}$/;
const any = (): boolean => true;

/**
 * Compiles `name`, `{label}` or `{label~expression}`.
 * @throws Fault CONFIG_INVALID for stray braces, bad label names and bad expressions
 */
export function compileSegment(text: string): Segment {
  const [whole, label = '', source] = PLACEHOLDER.exec(text) ?? [];
  if (whole === undefined) return literalSegment(text);
  const problem = labelProblem(label);
  if (problem !== undefined) throw new Fault('CONFIG_INVALID', problem);
  const matches = source === undefined ? any : compileRestriction(source);
  return { label, literal: undefined, matches };
}

function literalSegment(text: string): Segment {
  if (/[{}]/.test(text))
    throw new Fault(
      'CONFIG_INVALID',
      `${JSON.stringify(text)} has a stray brace, allowed: a name, {label} or {label~expression}`,
    );
  return { label: undefined, literal: text, matches: (found) => found === text };
}

/** True if some text can match both segments, or if that is unknown. */
export function segmentsOverlap(one: Segment, other: Segment): boolean {
  if (one.literal !== undefined) return other.matches(one.literal);
  if (other.literal !== undefined) return one.matches(other.literal);
  return true;
}

/** The segments of a seed path; the root's own path is empty and has none. */
export const segmentsOf = (seedPath: string): readonly string[] =>
  seedPath === '' ? [] : seedPath.split('.');

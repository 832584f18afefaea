// Patterns of seed paths and variable names.
import { Fault } from '../../errors.js';
import { compileWildcard } from '../../rules/formats.js';
import { labelProblem } from '../names.js';

const refusal = (sentence: string): Fault => new Fault('CONFIG_INVALID', sentence);

/** The allowed expressions: letters, digits, _, - and bracketed classes, each with at most one of + * ? after it. */
const GRAMMAR = /^(?:(?:[\w-]|\[\^?[\w-]+\])[+*?]?)+$/;
const MAX_QUANTIFIERS = 2;
/** With two quantifiers, matching is quadratic in the length, so the length is bounded. */
const LONGEST_TEXT = 256;

/**
 * Compiles an expression that must match a whole text; texts over 256 characters never match.
 * @throws Fault CONFIG_INVALID for an expression that `GRAMMAR` or `MAX_QUANTIFIERS` forbids
 */
function compileRestriction(source: string): (text: string) => boolean {
  const quantifiers = source.match(/[+*?]/g)?.length ?? 0;
  if (!GRAMMAR.test(source) || quantifiers > MAX_QUANTIFIERS)
    throw refusal(
      `${JSON.stringify(source)} is not a valid expression for a label, allowed: letters, ` +
        `digits, _, - and character classes such as [0-9], with at most ${MAX_QUANTIFIERS} of + * ?`,
    );
  const shape = expression(source);
  return (text) => text.length <= LONGEST_TEXT && shape.test(text);
}

function expression(source: string): RegExp {
  try {
    return new RegExp(`^(?:${source})$`);
  } catch (thrown) {
    throw new Fault(
      'CONFIG_INVALID',
      `${JSON.stringify(source)} has a character class with a range in descending order`,
      { cause: thrown },
    );
  }
}

/** A part of a path pattern between dots. Either `label` or `literal` is defined. */
interface Segment {
  readonly label: string | undefined;
  readonly literal: string | undefined;
  readonly matches: (text: string) => boolean;
}

const SEGMENT_PLACEHOLDER = /^\{([^{}~]*)(?:~([^{}]*))?\}$/;
const any = (): boolean => true;

/**
 * Compiles `name`, `{label}` or `{label~expression}`.
 * @throws Fault CONFIG_INVALID for stray braces, bad label names and bad expressions
 */
function compileSegment(text: string): Segment {
  const [whole, label = '', source] = SEGMENT_PLACEHOLDER.exec(text) ?? [];
  if (whole === undefined) return literalSegment(text);
  const problem = labelProblem(label);
  if (problem !== undefined) throw refusal(problem);
  const matches = source === undefined ? any : compileRestriction(source);
  return { label, literal: undefined, matches };
}

function literalSegment(text: string): Segment {
  if (/[{}]/.test(text))
    throw refusal(
      `${JSON.stringify(text)} has a stray brace, allowed: a name, {label} or {label~expression}`,
    );
  return { label: undefined, literal: text, matches: (found) => found === text };
}

/** False only if no text can match both segments. */
function segmentsOverlap(one: Segment, other: Segment): boolean {
  if (one.literal !== undefined) return other.matches(one.literal);
  if (other.literal !== undefined) return one.matches(other.literal);
  return true;
}

/** The segments of a seed path; none for the root, whose seed path is empty. */
export const segmentsOf = (seedPath: string): readonly string[] =>
  seedPath === '' ? [] : seedPath.split('.');

export type LabelValues = Readonly<Record<string, string>>;

/** The path pattern that matches only the root. As a prefix of seed paths, it also matches only the root. */
export const ROOT = '@root';

export interface PathPattern {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly labelNames: readonly string[];
  /** The labels that the pattern captures from a seed path; undefined if the pattern does not match. */
  match(seedPath: string): LabelValues | undefined;
  /** Like `match`, but takes the segments of a seed path. */
  matchSegments(found: readonly string[]): LabelValues | undefined;
  /**
   * Matches pattern and path up to the end of the shorter one. Returns the labels of that part; undefined if it does
   * not match.
   */
  along(found: readonly string[]): LabelValues | undefined;
}

/**
 * Compiles a path pattern, whose segments are split at dots. `{label}` captures one whole segment, which may be empty;
 * `{label~expression}` restricts the segment; `@root` matches only the root (seed path '').
 * @throws Fault CONFIG_INVALID for an empty pattern, a bad segment or a repeated label
 */
export function compilePathPattern(text: string): PathPattern {
  if (text === '') throw refusal(`the path is empty, allowed: ${ROOT} or names separated by dots`);
  const segments = text === ROOT ? [] : segmentsOf(text).map(compileSegment);
  const labelNames = segments.flatMap(({ label }) => label ?? []);
  if (new Set(labelNames).size < labelNames.length)
    throw refusal(`${JSON.stringify(text)} gives the same label twice`);
  const along = (found: readonly string[]) => capture(segments, found);
  const matchSegments = (found: readonly string[]) =>
    found.length === segments.length ? along(found) : undefined;
  const match = (seedPath: string) => matchSegments(segmentsOf(seedPath));
  return { text, segments, labelNames, match, matchSegments, along };
}

/**
 * Extends `pattern` by the literal path `at`. The result matches the object at `at` below each object that `pattern`
 * matches.
 */
export function childPattern(pattern: PathPattern, at: string): PathPattern {
  if (at === '') return pattern;
  return compilePathPattern(pattern.text === ROOT ? at : `${pattern.text}.${at}`);
}

/** False only if no path can match both patterns. */
export const patternsOverlap = (one: PathPattern, other: PathPattern): boolean =>
  one.segments.length === other.segments.length &&
  one.segments.every((segment, index) => {
    const against = other.segments[index];
    return against !== undefined && segmentsOverlap(segment, against);
  });

function capture(segments: readonly Segment[], found: readonly string[]): LabelValues | undefined {
  const labels: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = found[index];
    if (text === undefined) break;
    if (!segment.matches(text)) return undefined;
    if (segment.label !== undefined) labels[segment.label] = text;
  }
  return labels;
}

/** A pattern for variables whose names differ in one part. This part becomes a label. */
export interface VariablePattern {
  readonly text: string;
  readonly label: string;
  /** The part of a name that becomes the label; undefined if the pattern does not match the name. */
  capture(name: string): string | undefined;
}

const PLACEHOLDER = /^([^{}]*)\{([^{}~]*)(?:~([^{}]*))?\}([^{}]*)$/;

/**
 * Compiles a variable pattern with exactly one `{label}` or `{label~expression}`. A variable's name has no segments, so
 * the label captures any text of at least one character, dots included.
 * @returns undefined for a plain name, which has no braces
 * @throws Fault CONFIG_INVALID for stray braces, bad label names and bad expressions
 */
export function compileVariablePattern(text: string): VariablePattern | undefined {
  if (!/[{}]/.test(text)) return undefined;
  const [whole, before = '', label = '', source, after = ''] = PLACEHOLDER.exec(text) ?? [];
  if (whole === undefined) throw refusal(`${JSON.stringify(text)} must hold exactly one {label}`);
  const problem = labelProblem(label);
  if (problem !== undefined) throw refusal(problem);
  const allowed = source === undefined ? () => true : compileRestriction(source);
  const around = before.length + after.length;
  const capture = (name: string): string | undefined => {
    if (name.length <= around || !name.startsWith(before) || !name.endsWith(after))
      return undefined;
    const taken = name.slice(before.length, name.length - after.length);
    return allowed(taken) ? taken : undefined;
  };
  return { text, label, capture };
}

/** Whether a seed path, split into segments, begins with the prefix. */
export type SeedPrefix = (found: readonly string[]) => boolean;

/**
 * Compiles a prefix of seed paths. Each segment must match as a whole; `*` matches any text inside a segment, and a
 * segment may be a placeholder as in a path pattern. `@root` matches only the root.
 * @throws Fault CONFIG_INVALID for an empty prefix, stray braces and a misplaced @root
 */
export function compileSeedPrefix(text: string): SeedPrefix {
  if (text === ROOT) return (found) => found.length === 0;
  if (text === '')
    throw refusal(`a seed path is empty, allowed: ${ROOT} or names separated by dots`);
  if (text.startsWith('@'))
    throw refusal(`${JSON.stringify(text)} is not a seed path, did you mean ${ROOT}?`);
  const segments = segmentsOf(text).map(compilePrefixSegment);
  return (found) =>
    found.length >= segments.length && segments.every((is, index) => is(found[index] ?? ''));
}

function compilePrefixSegment(text: string): (found: string) => boolean {
  if (!text.includes('*') || text.startsWith('{')) return compileSegment(text).matches;
  return compileWildcard(text);
}

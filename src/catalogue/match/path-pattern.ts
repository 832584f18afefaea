// Patterns of seed paths, such as `userDatabase.{mount~mount[0-9]+}`.
import { Fault } from '../../errors.js';
import { compileSegment, segmentsOf, segmentsOverlap } from './segment.js';
import type { Segment } from './segment.js';

/** Label names with their values. */
export type Labels = Readonly<Record<string, string>>;

/** The pattern, and the seed path prefix, that stands for the root itself. */
export const ROOT = '@root';

export interface PathPattern {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly labelNames: readonly string[];
  /** The labels that the pattern takes out of a seed path; undefined when it does not match. */
  match(seedPath: string): Labels | undefined;
  /** The same for a path that is split already. */
  matchSegments(found: readonly string[]): Labels | undefined;
  /** The labels of the path segments that pattern and path both have; undefined when one of these does not match. */
  along(found: readonly string[]): Labels | undefined;
}

/**
 * Compiles a path pattern: segments split at dots, `{label}` takes one whole segment (an empty one
 * too), `{label~expression}` restricts it, `@root` is the root itself (seed path '').
 * @throws Fault CONFIG_INVALID for an empty pattern, a bad segment or a label given twice
 */
export function compilePathPattern(text: string): PathPattern {
  if (text === '')
    throw new Fault('CONFIG_INVALID', `the path is empty, allowed: ${ROOT} or names split by dots`);
  const segments = text === ROOT ? [] : segmentsOf(text).map(compileSegment);
  const labelNames = segments.flatMap(({ label }) => label ?? []);
  if (new Set(labelNames).size < labelNames.length)
    throw new Fault('CONFIG_INVALID', `${JSON.stringify(text)} gives the same label twice`);
  const along = (found: readonly string[]) => capture(segments, found);
  const matchSegments = (found: readonly string[]) =>
    found.length === segments.length ? along(found) : undefined;
  const match = (seedPath: string) => matchSegments(segmentsOf(seedPath));
  return { text, segments, labelNames, match, matchSegments, along };
}

/** The pattern of the object that hangs at the literal path `at` below what `pattern` matches. */
export function childPattern(pattern: PathPattern, at: string): PathPattern {
  if (at === '') return pattern;
  return compilePathPattern(pattern.text === ROOT ? at : `${pattern.text}.${at}`);
}

/** True if one path may match both, or if that is unknown. */
export const patternsOverlap = (one: PathPattern, other: PathPattern): boolean =>
  one.segments.length === other.segments.length &&
  one.segments.every((segment, index) => {
    const against = other.segments[index];
    return against !== undefined && segmentsOverlap(segment, against);
  });

function capture(segments: readonly Segment[], found: readonly string[]): Labels | undefined {
  const labels: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const text = found[index];
    if (text === undefined) break;
    if (!segment.matches(text)) return undefined;
    if (segment.label !== undefined) labels[segment.label] = text;
  }
  return labels;
}

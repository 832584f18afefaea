// Prefixes of seed paths, as operators write them in `seed_paths` and catalogues in their groups.
import { Fault } from '../../errors.js';
import { ROOT } from './path-pattern.js';
import { compileSegment, segmentsOf } from './segment.js';
import { compileWildcard } from '../../rules/wildcard.js';

/** Whether a seed path, split into segments, begins with the prefix. */
export type SeedPrefix = (found: readonly string[]) => boolean;

/**
 * Compiles a prefix. Path segments are compared whole; `*` stands for any text inside one, one may
 * be a placeholder as in a path pattern, and `@root` is the root and nothing below it.
 * @throws Fault CONFIG_INVALID for an empty prefix, stray braces and a misplaced @root
 */
export function compileSeedPrefix(text: string): SeedPrefix {
  if (text === ROOT) return (found) => found.length === 0;
  if (text === '')
    throw new Fault(
      'CONFIG_INVALID',
      `a seed path is empty, allowed: ${ROOT} or names split by dots`,
    );
  if (text.startsWith('@'))
    throw new Fault(
      'CONFIG_INVALID',
      `${JSON.stringify(text)} is no seed path, did you mean ${ROOT}?`,
    );
  const segments = segmentsOf(text).map(compilePrefixSegment);
  return (found) =>
    found.length >= segments.length && segments.every((is, index) => is(found[index] ?? ''));
}

function compilePrefixSegment(text: string): (found: string) => boolean {
  if (!text.includes('*') || text.startsWith('{')) return compileSegment(text).matches;
  return compileWildcard(text);
}

// Scopes: named subsets of the metrics, and the parts of a snapshot that they select. Spec 2.3.
import type { FamilyMetadata, Piece, Scope, Snapshot } from '../../model.js';
import { compileWildcard } from '../../rules/formats.js';
import { memoize } from '../memoize.js';

/** The properties of a metric that patterns match. */
export type NamedMetric = Pick<FamilyMetadata, 'name' | 'type'>;

/** The names that a pattern may match: the metric's name, and the names of the series of a summary or histogram. */
const namesOf = ({ name, type }: NamedMetric): readonly string[] =>
  type === 'histogram'
    ? [name, `${name}_sum`, `${name}_count`, `${name}_bucket`]
    : type === 'summary'
      ? [name, `${name}_sum`, `${name}_count`]
      : [name];

/** Makes a function that returns whether a pattern selects a metric; `*` matches any text. */
export function compilePattern(pattern: string): (metric: NamedMetric) => boolean {
  const matches = compileWildcard(pattern);
  return (metric) => namesOf(metric).some(matches);
}

/** Whether a pattern may select a metric whose name begins with `prefix`. */
export function canSelectUnder(pattern: string, prefix: string): boolean {
  const star = pattern.indexOf('*');
  const start = star < 0 ? pattern : pattern.slice(0, star);
  return start.startsWith(prefix) || (star >= 0 && prefix.startsWith(start));
}

export function compileScope(scope: {
  readonly name: string;
  readonly metrics: readonly string[];
}): Scope {
  const patterns = scope.metrics.map(compilePattern);
  // A family keeps its metadata object across renders, so each family is matched once.
  const selects = memoize((metric: NamedMetric) => patterns.some((matches) => matches(metric)));
  return { name: scope.name, selects };
}

const selectionsOf = memoize<Snapshot, WeakMap<Scope, Snapshot>>(() => new WeakMap());

/** Makes a function that returns the same part each time for one list and scope. */
function memoizePart<T>(familyOf: (item: T) => FamilyMetadata) {
  const partsOf = memoize<readonly T[], WeakMap<Scope, readonly T[]>>(() => new WeakMap());
  return (all: readonly T[], scope: Scope): readonly T[] => {
    const parts = partsOf(all);
    const part = parts.get(scope) ?? all.filter((item) => scope.selects(familyOf(item)));
    parts.set(scope, part);
    return part;
  };
}

const selectedPieces = memoizePart<Piece>(({ family }) => family);
const selectedMetadata = memoizePart<FamilyMetadata>((family) => family);

/**
 * The part of a snapshot that a scope selects: the same object each time for one snapshot and scope. `isHit` tells
 * whether it was in the cache.
 */
export function selected(
  snapshot: Snapshot,
  scope: Scope,
): { readonly selection: Snapshot; readonly isHit: boolean } {
  const selections = selectionsOf(snapshot);
  const known = selections.get(scope);
  const selection = known ?? {
    violatesOpenMetrics: snapshot.violatesOpenMetrics,
    metadata: selectedMetadata(snapshot.metadata, scope),
    lines: (form) => {
      const all = snapshot.lines(form);
      return all && selectedPieces(all, scope);
    },
    hold: () => snapshot.hold(),
  };
  selections.set(scope, selection);
  return { selection, isHit: known !== undefined };
}

// Scopes: named subsets of the metrics, and the families of a snapshot that a scope selects. Spec 2.3.
import type { FamilyMetadata, FamilyText, ReadyAnswer, Scope, Snapshot } from '../../model.js';
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

interface Selection {
  /** The selected families; the same array each time for one snapshot and scope. The snapshot owns their text. */
  readonly families: readonly FamilyText[];
  /** Whether the list was in the cache. */
  readonly isHit: boolean;
}

/** The families of an answer that its scope selects, or all families if it has no scope. */
export const familiesOf = ({ selected, snapshot }: ReadyAnswer): readonly FamilyText[] =>
  selected ?? snapshot.families;

const selectionsOf = memoize<Snapshot, WeakMap<Scope, readonly FamilyText[]>>(() => new WeakMap());

export function selectFamilies(snapshot: Snapshot, scope: Scope): Selection {
  const selections = selectionsOf(snapshot);
  const known = selections.get(scope);
  if (known !== undefined) return { families: known, isHit: true };
  const families = snapshot.families.filter(({ metadata }) => scope.selects(metadata));
  selections.set(scope, families);
  return { families, isHit: false };
}

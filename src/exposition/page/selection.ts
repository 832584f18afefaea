// The families of a snapshot that a scope selects, cached while both are unchanged. Spec 2.3.
import type { FamilyText, ReadyExposition, Scope, Snapshot } from '../../model.js';

export interface Selection {
  /** Returns the same list for the same snapshot and scope; the snapshot owns its text. */
  readonly families: readonly FamilyText[];
  /** True if it was in the cache. */
  readonly isHit: boolean;
}

/** All metrics of the application, or those that a scope selects: the same list while both are unchanged. */
export const familiesOf = ({ selected, snapshot }: ReadyExposition): readonly FamilyText[] =>
  selected ?? snapshot.families;

const cache = new WeakMap<Snapshot, WeakMap<Scope, readonly FamilyText[]>>();

export function selectFamilies(snapshot: Snapshot, scope: Scope): Selection {
  let selections = cache.get(snapshot);
  if (selections === undefined) {
    selections = new WeakMap();
    cache.set(snapshot, selections);
  }
  const known = selections.get(scope);
  if (known !== undefined) return { families: known, isHit: true };
  const families = snapshot.families.filter(({ facts }) => scope.selects(facts));
  selections.set(scope, families);
  return { families, isHit: false };
}

// Which patterns of scopes can select metrics of a target, known before any value is read.
import { compilePattern } from '../exposition/page/scope.js';
import { metricPrefix } from '../exposition/rows/self-described.js';
import type { FamilyFacts } from '../model.js';
import { INTERNAL_FACTS } from '../targets/internal-metrics.js';
import type { PlannedTarget } from './plan.js';

/** The metrics that a target can have; of a self-described one only the prefix of their names is known. */
export interface Selectable {
  readonly families: readonly FamilyFacts[];
  readonly prefix: string | undefined;
}

/** The metrics of the target's classes. */
export function selectableOf({ catalogue, definition }: PlannedTarget): Selectable {
  const { app, classes, showsUncatalogued } = definition;
  const chosen = catalogue?.classes.filter(
    ({ alias }) => classes.length === 0 || classes.includes(alias),
  );
  const families = (chosen ?? []).flatMap(({ rows }) => rows.map(({ family }) => family));
  return {
    families: [...new Set(families)],
    prefix: catalogue === undefined || showsUncatalogued ? metricPrefix(app) : undefined,
  };
}

/**
 * Whether a pattern can select metrics of a target, or internal ones.
 * @param fitsPrefix whether it can select a metric whose name begins so
 */
export function canSelect(
  pattern: string,
  { families, prefix }: Selectable,
  fitsPrefix: (pattern: string, prefix: string) => boolean,
): boolean {
  const fits = compilePattern(pattern);
  if (INTERNAL_FACTS.some(fits) || families.some(fits)) return true;
  return prefix !== undefined && fitsPrefix(pattern, prefix);
}

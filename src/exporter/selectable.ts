// Which patterns can select metrics of an application, decided before any value is read.
import type { Catalogue } from '../catalogue/catalogue.js';
import { canSelectUnder, compilePattern } from '../exposition/page/scope.js';
import { metricPrefix } from '../exposition/rows/self-described.js';
import { INTERNAL_FACTS } from '../targets/internal-metrics.js';
import type { Plan } from './plan.js';

export interface Application {
  readonly app: string;
  /** Undefined for an application without a catalogue, of which only the metric prefix is known. */
  readonly catalogue: Catalogue | undefined;
}

/** The applications of all targets, without repetition. */
export const applicationsOf = (plan: Plan): readonly Application[] => [
  ...new Map(plan.map(({ definition: { app }, catalogue }) => [app, { app, catalogue }])).values(),
];

/** Whether a pattern can select metrics of an application, or internal ones. */
export function canSelect(pattern: string, { app, catalogue }: Application): boolean {
  const fits = compilePattern(pattern);
  if (INTERNAL_FACTS.some(fits)) return true;
  if (catalogue === undefined) return canSelectUnder(pattern, metricPrefix(app));
  return [...catalogue.families.values()].some(fits);
}

// Warns at the start about scopes and patterns that can never select anything.
import { hint } from '../document/nearest.js';
import type { Config } from '../config/resolve.js';
import { canSelectUnder } from '../exposition/page/scope.js';
import { INTERNAL_FACTS } from '../targets/internal-metrics.js';
import type { Plan } from './plan.js';
import { canSelect, selectableOf } from './selectable.js';

/** One sentence for each such scope, and for each such pattern of other scopes. */
export function scopeWarnings(config: Config, plan: Plan): readonly string[] {
  const { scopes } = config;
  const names = [
    ...INTERNAL_FACTS,
    ...new Set(plan.flatMap(({ catalogue }) => [...(catalogue?.families.values() ?? [])])),
  ].map(({ name }) => name);
  const selectables = plan.map(selectableOf);
  const isIdle = (pattern: string): boolean =>
    !selectables.some((each) => canSelect(pattern, each, canSelectUnder));

  return scopes.flatMap(({ name, metrics: patterns }, index) => {
    const path = ['metric_scopes', index];
    const idle = patterns.map(isIdle);
    const scope = `metric scope ${JSON.stringify(name)}`;
    if (idle.every(Boolean)) {
      const near = patterns.map((pattern) => hint(pattern, names)).find((text) => text !== '');
      return `${config.at(path)}: ${scope} selects nothing: no configured target has a metric that it names${near ?? ''}`;
    }
    return patterns.flatMap((pattern, item) =>
      idle[item] === true
        ? `${config.at([...path, 'metrics', item])}: no configured target has a metric that fits ${JSON.stringify(pattern)} of ${scope}${hint(pattern, names)}`
        : [],
    );
  });
}

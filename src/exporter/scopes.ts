// The scopes that there are now, which of them apply to a target, and warnings about those that select nothing.
import { isDeepStrictEqual } from 'node:util';
import type { ScopeConfig } from '../config/file-rule.js';
import type { Config } from '../config/resolve.js';
import { hint } from '../document/nearest.js';
import { canSelectUnder, compilePattern, compileScope } from '../exposition/page/scope.js';
import { metricPrefix } from '../exposition/rows/self-described.js';
import type { FamilyFacts, Scope, Target } from '../model.js';
import { INTERNAL_FACTS } from '../targets/internal-metrics.js';
import type { Plan, PlannedTarget } from './plan.js';

/** The metrics that a target can have; of a self-described one only the prefix of their names is known. */
interface Selectable {
  readonly families: readonly FamilyFacts[];
  readonly prefix: string | undefined;
}

/** The metrics of the target's classes. */
function selectableOf({ catalogue, definition }: PlannedTarget): Selectable {
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
function canSelect(
  pattern: string,
  { families, prefix }: Selectable,
  fitsPrefix: (pattern: string, prefix: string) => boolean,
): boolean {
  const fits = compilePattern(pattern);
  if (INTERNAL_FACTS.some(fits) || families.some(fits)) return true;
  return prefix !== undefined && fitsPrefix(pattern, prefix);
}

interface KnownScope {
  readonly config: ScopeConfig;
  readonly scope: Scope;
}

/** What tells a target from another. */
type TargetIdentity = Pick<Target, 'app' | 'serverKeys' | 'instance'>;

const keyOf = ({ app, serverKeys, instance }: TargetIdentity): string =>
  JSON.stringify([app, serverKeys, instance]);

export class ScopeRegistry {
  #scopes = new Map<string, KnownScope>();
  #namesByTarget = new Map<string, readonly string[]>();

  get(name: string): Scope | undefined {
    return this.#scopes.get(name)?.scope;
  }

  /** How many scopes have no metrics of any target to select. */
  get unmatched(): number {
    const matched = new Set([...this.#namesByTarget.values()].flat());
    return [...this.#scopes.keys()].filter((name) => !matched.has(name)).length;
  }

  /** The scopes that have metrics of the target to select, as far as that is known beforehand. */
  namesFor(target: TargetIdentity): readonly string[] {
    return this.#namesByTarget.get(keyOf(target)) ?? [];
  }

  /** Makes these the scopes. One that is as it was stays the same, and what is cached for it too. */
  update(configs: readonly ScopeConfig[], plan: Plan = []): void {
    const former = this.#scopes;
    this.#scopes = new Map(
      configs.map((config) => {
        const known = former.get(config.name);
        const isSame = known !== undefined && isDeepStrictEqual(known.config, config);
        return [config.name, isSame ? known : { config, scope: compileScope(config) }];
      }),
    );
    this.#namesByTarget = new Map(
      plan.map((planned) => [keyOf(planned.definition), namesFor(planned, configs)]),
    );
  }
}

function namesFor(planned: PlannedTarget, configs: readonly ScopeConfig[]): readonly string[] {
  const selectable = selectableOf(planned);
  // Without a catalogue a pattern counts that names the application.
  const applies = (pattern: string): boolean =>
    canSelect(pattern, selectable, (text, prefix) => text.startsWith(prefix));
  return configs.filter(({ metrics }) => metrics.some(applies)).map(({ name }) => name);
}

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

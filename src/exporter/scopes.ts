// The current scopes, the scopes of each target, and warnings about scopes that select nothing.
import { isDeepStrictEqual } from 'node:util';
import type { ScopeConfig } from '../config/file-rule.js';
import type { Config } from '../config/resolve.js';
import { hint } from '../document/nearest.js';
import { canSelectUnder, compilePattern, compileScope } from '../exposition/page/scope.js';
import { metricPrefix } from '../exposition/rows/declared-rows.js';
import type { FamilyMetadata, Scope, Target } from '../model.js';
import { pageLevel, pageMetadata } from '../targets/internal-metrics.js';
import { selectedClasses } from './plan.js';
import type { Plan, PlannedTarget } from './plan.js';

/**
 * The metrics that a target can have: internal metrics, the metrics of its catalogue, and the metrics that its publisher
 * describes itself, whose names begin with `prefix`.
 */
interface Selectable {
  readonly families: readonly FamilyMetadata[];
  readonly prefix: string | undefined;
}

/** @param internal the internal metrics on the pages of targets */
function selectableOf(planned: PlannedTarget, internal: readonly FamilyMetadata[]): Selectable {
  const { catalogue, definition } = planned;
  const { app, showUncatalogued } = definition;
  const families = selectedClasses(planned).flatMap(({ rows }) => rows.map(({ family }) => family));
  return {
    families: [...new Set([...internal, ...families])],
    prefix: catalogue === undefined || showUncatalogued ? metricPrefix(app) : undefined,
  };
}

/**
 * Whether a pattern can select metrics of a target.
 * @param fitsPrefix whether the pattern can select a metric whose name has the prefix
 */
function canSelect(
  pattern: string,
  { families, prefix }: Selectable,
  fitsPrefix: (pattern: string, prefix: string) => boolean,
): boolean {
  const fits = compilePattern(pattern);
  if (families.some(fits)) return true;
  return prefix !== undefined && fitsPrefix(pattern, prefix);
}

interface CompiledScope {
  readonly config: ScopeConfig;
  readonly scope: Scope;
}

type TargetIdentity = Pick<Target, 'app' | 'serverKeys' | 'instance'>;

const keyOf = ({ app, serverKeys, instance }: TargetIdentity): string =>
  JSON.stringify([app, serverKeys, instance]);

export class ScopeRegistry {
  #scopes = new Map<string, CompiledScope>();
  #namesByTarget = new Map<string, readonly string[]>();
  /** The names of scopes that `namesFor` found for each planned target with the current scopes. */
  #known = new WeakMap<PlannedTarget, readonly string[]>();
  #configs: readonly ScopeConfig[] = [];
  readonly #internal: readonly FamilyMetadata[];

  /** @param internal the internal metrics on the pages of targets */
  constructor(internal = pageMetadata('full')) {
    this.#internal = internal;
  }

  get(name: string): Scope | undefined {
    return this.#scopes.get(name)?.scope;
  }

  /** The number of scopes that select no metrics of any target. */
  get unmatched(): number {
    const matched = new Set([...this.#namesByTarget.values()].flat());
    return [...this.#scopes.keys()].filter((name) => !matched.has(name)).length;
  }

  /** The names of the scopes that can select metrics of a target. */
  namesFor(target: TargetIdentity): readonly string[] {
    return this.#namesByTarget.get(keyOf(target)) ?? [];
  }

  /** Replaces the scopes. An unchanged scope stays the same object, so that its cached output stays in use. */
  update(configs: readonly ScopeConfig[], plan: Plan = []): void {
    const former = this.#scopes;
    this.#scopes = new Map(
      configs.map((config) => {
        const known = former.get(config.name);
        const isSame = known !== undefined && isDeepStrictEqual(known.config, config);
        return [config.name, isSame ? known : { config, scope: compileScope(config) }];
      }),
    );
    if (configs !== this.#configs) this.#known = new WeakMap();
    this.#configs = configs;
    this.#namesByTarget = new Map(
      plan.map((planned) => {
        const names = this.#known.get(planned) ?? namesFor(planned, configs, this.#internal);
        this.#known.set(planned, names);
        return [keyOf(planned.definition), names];
      }),
    );
  }
}

function namesFor(
  planned: PlannedTarget,
  configs: readonly ScopeConfig[],
  internal: readonly FamilyMetadata[],
): readonly string[] {
  const selectable = selectableOf(planned, internal);
  // The names of self-described metrics begin with a prefix, so a pattern with that prefix can select them.
  const applies = (pattern: string): boolean =>
    canSelect(pattern, selectable, (text, prefix) => text.startsWith(prefix));
  return configs.filter(({ metrics }) => metrics.some(applies)).map(({ name }) => name);
}

/** Warns of each scope that selects no metric, and of each pattern in the other scopes that selects no metric. */
export function scopeWarnings(config: Config, plan: Plan): readonly string[] {
  const { scopes, settings } = config;
  const internal = pageMetadata(pageLevel(settings));
  const names = [
    ...internal,
    ...new Set(plan.flatMap(({ catalogue }) => [...(catalogue?.families.values() ?? [])])),
  ].map(({ name }) => name);
  const selectables = plan.map((planned) => selectableOf(planned, internal));
  const matchesNone = (pattern: string): boolean =>
    !selectables.some((each) => canSelect(pattern, each, canSelectUnder));

  return scopes.flatMap(({ name, metrics: patterns }, index) => {
    const path = ['metric_scopes', index];
    const idle = patterns.map(matchesNone);
    const scope = `metric scope ${JSON.stringify(name)}`;
    if (idle.every(Boolean)) {
      const near = patterns.map((pattern) => hint(pattern, names)).find((text) => text !== '');
      return `${config.at(path)}: ${scope} selects nothing: no configured target has a metric that the scope names${near ?? ''}`;
    }
    return patterns.flatMap((pattern, item) =>
      idle[item] === true
        ? `${config.at([...path, 'metrics', item])}: no configured target has a metric that matches ${JSON.stringify(pattern)} of ${scope}${hint(pattern, names)}`
        : [],
    );
  });
}

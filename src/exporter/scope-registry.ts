// The current scopes by name, and which of them apply to a target.
import { isDeepStrictEqual } from 'node:util';
import type { ScopeConfig } from '../config/file-rule.js';
import { compilePattern, compileScope } from '../exposition/page/scope.js';
import { metricPrefix } from '../exposition/rows/self-described.js';
import type { FamilyFacts, Scope, Target } from '../model.js';
import { INTERNAL_FACTS } from '../targets/internal-metrics.js';
import type { Plan, PlannedTarget } from './plan.js';

interface Known {
  readonly config: ScopeConfig;
  readonly scope: Scope;
}

/** What identifies a target. */
type Identity = Pick<Target, 'app' | 'serverKeys' | 'instance'>;

const keyOf = ({ app, serverKeys, instance }: Identity): string =>
  JSON.stringify([app, serverKeys, instance]);

export class ScopeRegistry {
  #scopes = new Map<string, Known>();
  #namesByTarget = new Map<string, readonly string[]>();

  get(name: string): Scope | undefined {
    return this.#scopes.get(name)?.scope;
  }

  /** The scopes that can select metrics of the target, as far as is known before any read. */
  namesFor(target: Identity): readonly string[] {
    return this.#namesByTarget.get(keyOf(target)) ?? [];
  }

  /** Replaces the scopes. An unchanged scope keeps its object, and so its cached text. */
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
      plan.map((planned) => [keyOf(planned.definition), this.#namesOf(planned)]),
    );
  }

  #namesOf({ catalogue, definition: { app, classes } }: PlannedTarget): readonly string[] {
    const chosen = catalogue?.classes.filter(
      ({ alias }) => classes.length === 0 || classes.includes(alias),
    );
    const families = (chosen ?? []).flatMap(({ rows }) => rows.map(({ family }) => family));
    const metrics: readonly Pick<FamilyFacts, 'name' | 'type'>[] = [
      ...INTERNAL_FACTS,
      ...new Set(families),
    ];
    // Without a catalogue, only patterns with the application's prefix are surely meant for it.
    const prefix = catalogue === undefined ? metricPrefix(app) : undefined;
    const applies = (pattern: string): boolean =>
      metrics.some(compilePattern(pattern)) || (prefix !== undefined && pattern.startsWith(prefix));
    return [...this.#scopes.values()]
      .filter(({ config }) => config.metrics.some(applies))
      .map(({ config }) => config.name);
  }
}

// Which scopes there are now, by name, and which of them apply to a target.
import { isDeepStrictEqual } from 'node:util';
import type { ScopeConfig } from '../config/file-rule.js';
import { compileScope } from '../exposition/page/scope.js';
import type { Scope, Target } from '../model.js';
import type { Plan, PlannedTarget } from './plan.js';
import { canSelect, selectableOf } from './selectable.js';

interface Known {
  readonly config: ScopeConfig;
  readonly scope: Scope;
}

/** What tells a target from another. */
type Identity = Pick<Target, 'app' | 'serverKeys' | 'instance'>;

const keyOf = ({ app, serverKeys, instance }: Identity): string =>
  JSON.stringify([app, serverKeys, instance]);

export class ScopeRegistry {
  #scopes = new Map<string, Known>();
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
  namesFor(target: Identity): readonly string[] {
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

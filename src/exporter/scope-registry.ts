// The current scopes by name, and the ones that each application has metrics for.
import { isDeepStrictEqual } from 'node:util';
import type { ScopeConfig } from '../config/file-rule.js';
import { compileScope } from '../exposition/page/scope.js';
import type { Scope } from '../model.js';
import { canSelect } from './selectable.js';
import type { Application } from './selectable.js';

export class ScopeRegistry {
  #scopes = new Map<string, { readonly config: ScopeConfig; readonly scope: Scope }>();
  /** By application, the names of the scopes that can select something of it. */
  #names = new Map<string, readonly string[]>();

  get(name: string): Scope | undefined {
    return this.#scopes.get(name)?.scope;
  }

  /** Names of the scopes that can select something of an application. */
  namesFor(app: string): readonly string[] {
    return this.#names.get(app) ?? [];
  }

  /** Replaces the scopes. An unchanged scope stays the same object, so its cached selections stay valid. */
  update(configs: readonly ScopeConfig[], applications: readonly Application[]): void {
    const former = this.#scopes;
    this.#scopes = new Map(
      configs.map((config) => {
        const known = former.get(config.name);
        const isSame = known !== undefined && isDeepStrictEqual(known.config, config);
        return [config.name, isSame ? known : { config, scope: compileScope(config) }];
      }),
    );
    this.#names = new Map(applications.map((each) => [each.app, namesFor(each, configs)]));
  }
}

const namesFor = (application: Application, configs: readonly ScopeConfig[]): readonly string[] =>
  configs
    .filter(({ metrics }) => metrics.some((pattern) => canSelect(pattern, application)))
    .map(({ name }) => name);

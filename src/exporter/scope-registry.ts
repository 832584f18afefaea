// Which scopes there are now, by name.
import { isDeepStrictEqual } from 'node:util';
import type { ScopeConfig } from '../config/file-rule.js';
import { compileScope } from '../exposition/page/scope.js';
import type { Scope } from '../model.js';

export class ScopeRegistry {
  #scopes = new Map<string, { readonly config: ScopeConfig; readonly scope: Scope }>();

  get names(): readonly string[] {
    return [...this.#scopes.keys()];
  }

  get(name: string): Scope | undefined {
    return this.#scopes.get(name)?.scope;
  }

  /** Makes these the scopes. One that is as it was stays the same, and what is cached for it too. */
  update(configs: readonly ScopeConfig[]): void {
    const former = this.#scopes;
    this.#scopes = new Map(
      configs.map((config) => {
        const known = former.get(config.name);
        const isSame = known !== undefined && isDeepStrictEqual(known.config, config);
        return [config.name, isSame ? known : { config, scope: compileScope(config) }];
      }),
    );
  }
}

// What each target follows: its catalogue and its filters, checked before anything starts.
import { loadCatalogues } from './catalogue/builtin.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { compileFilters } from './catalogue/filters.js';
import type { Filters } from './catalogue/filters.js';
import { keyPath } from './document/key-path.js';
import type { Config } from './config/resolve.js';

/** The catalogue and the compiled filters of each target, in order. */
export type Plan = readonly {
  readonly catalogue: Catalogue | undefined;
  readonly filters: Filters;
}[];

/**
 * Checks what the configuration says of applications, classes and groups.
 * @throws Fault CONFIG_INVALID
 */
export function planTargets({ settings, targets }: Config): Plan {
  const catalogues = loadCatalogues(settings.catalogueFiles);
  return targets.map((target) => {
    const catalogue = catalogues.get(target.app);
    return { catalogue, filters: compileFilters(catalogue, target, keyPath(target.path)) };
  });
}

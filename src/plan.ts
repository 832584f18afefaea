// What each target is: its configuration with its catalogue, checked before anything starts.
import { readFileSync } from 'node:fs';
import { BUILT_IN_APPS, loadCatalogues } from './catalogue/builtin.js';
import { compileFilters } from './catalogue/filters.js';
import { keyPath } from './config/key-path.js';
import type { Config } from './config/resolve.js';
import type { TargetDefinition } from './partitions/definition.js';

/**
 * The definitions of all targets, in order.
 * @throws Fault CONFIG_INVALID
 */
export function planTargets({ settings, targets }: Config): readonly TargetDefinition[] {
  const catalogues = loadCatalogues(settings.catalogueFiles);
  const texts = new Map<string, { file: string; text: string }>();
  for (const app of BUILT_IN_APPS) {
    const text = readFileSync(new URL(`./catalogue/${app}.toml`, import.meta.url), 'utf8');
    texts.set(app, { file: `${app}.toml`, text });
  }
  return targets.map((target) => {
    compileFilters(catalogues.get(target.app), target, keyPath(target.path));
    const { app, serverKeys, instance, variable, classes, seedPathGroups, seedPaths } = target;
    return {
      ...{ app, serverKeys, instance, variable, classes, seedPathGroups, seedPaths },
      catalogue: texts.get(app),
      spacingMs: settings.renderMinIntervalMs,
      isDebug: settings.debug,
    };
  });
}

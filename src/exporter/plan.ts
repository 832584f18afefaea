// What each target is: its definition with its catalogue, checked before anything starts.
import { loadCatalogues } from '../catalogue/builtin.js';
import type { Catalogue, CatalogueText } from '../catalogue/catalogue.js';
import { compileFilters } from '../catalogue/match/filters.js';
import type { Complaint, Config, TargetConfig } from '../config/resolve.js';
import { keyPath } from '../document/key-path.js';
import { nearest } from '../document/nearest.js';
import { readText } from '../document/text-file.js';
import { Fault } from '../errors.js';
import type { TargetDefinition } from '../targets/definition.js';

export interface PlannedTarget {
  /** Undefined for an application that describes itself. */
  readonly catalogue: Catalogue | undefined;
  readonly definition: TargetDefinition;
  /** What is allowed and hardly meant, a sentence each. */
  readonly warnings: readonly string[];
}

/** One entry a target, in their order. */
export type Plan = readonly PlannedTarget[];

/**
 * Checks what the configuration says of applications, classes, groups and catalogue files.
 * @throws Fault CONFIG_INVALID with a line for everything that is wrong in any file or target
 */
export function planTargets(config: Config): Plan {
  const complaints: Complaint[] = [];
  const inCatalogues: Fault[] = [];
  const texts = readTexts(config, complaints);
  const catalogues = loadCatalogues(texts, (fault) => inCatalogues.push(fault));
  /** Otherwise an application may be that of a file that was refused: nothing can be said of it. */
  const isWhole = complaints.length === 0 && inCatalogues.length === 0;

  const plan = config.targets.map((target) => {
    const catalogue = catalogues.get(target.app);
    const near = catalogue ? undefined : nearest(target.app, catalogues.keys());
    const hint = near === undefined ? '' : `; the nearest known application is ${near}`;
    compileFilters(catalogue, target, (path, sentence) => {
      if (isWhole || catalogue !== undefined)
        complaints.push({ path: [...target.path, ...path], sentence: `${sentence}${hint}` });
    });
    const warnings = near === undefined ? [] : [nearMiss(config, target, hint)];
    const definition = definitionOf(target, config, catalogue);
    return { catalogue, definition, warnings };
  });
  const faults = [...(complaints.length > 0 ? [config.invalid(complaints)] : []), ...inCatalogues];
  if (faults.length > 0)
    throw new Fault('CONFIG_INVALID', faults.map(({ message }) => message).join('\n'));
  return plan;
}

function definitionOf(
  target: TargetConfig,
  { settings }: Config,
  catalogue: Catalogue | undefined,
): TargetDefinition {
  const { app, serverKeys, instance, variable, classes, seedPathGroups, seedPaths } = target;
  const { publisherTimeZone } = target;
  return {
    ...{ app, serverKeys, instance, variable, classes, seedPathGroups, seedPaths },
    publisherTimeZone,
    catalogue: catalogue?.source,
    spacingMs: settings.renderMinIntervalMs,
    isDebug: settings.debug,
  };
}

/** The catalogue files of the user; one that cannot be read is a complaint. */
function readTexts({ settings }: Config, complaints: Complaint[]): readonly CatalogueText[] {
  return settings.catalogueFiles.flatMap((file, index) => {
    try {
      return [{ file, text: readText(file) }];
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      complaints.push({ path: ['catalogue_files', index], sentence: thrown.message });
      return [];
    }
  });
}

/** An application without a catalogue is legal; one that is nearly a known one is hardly meant. */
function nearMiss(config: Config, { app, path }: TargetConfig, hint: string): string {
  const key = [...path, 'app'];
  const place = config.at(key);
  const where = place === '' ? '' : `${place}: `;
  return `${where}${keyPath(key)}: ${app} has no catalogue and exports what its publisher describes${hint}`;
}

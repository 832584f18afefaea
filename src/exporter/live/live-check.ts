// Compares a configuration with the existing segments: what each target would show now.
import type { Catalogue } from '../../catalogue/catalogue.js';
import { compileFilters, uncataloguedIn } from '../../catalogue/match/filters.js';
import type { Filters } from '../../catalogue/match/filters.js';
import type { Config, TargetConfig } from '../../config/resolve.js';
import { pluralize } from '../../pluralize.js';
import { keyPath, quoted } from '../../document/document.js';
import { compileScope } from '../../exposition/page/scope.js';
import type { FamilyFacts } from '../../model.js';
import { existingText } from '../../shown/shown-text.js';
import { choose } from '../../streams/choose-root.js';
import type { ChosenRoot } from '../../streams/choose-root.js';
import type { PollResult, Watch } from '../../streams/watch.js';
import type { TargetDefinition } from '../../targets/formats.js';
import { INTERNAL_FACTS } from '../../targets/internal-metrics.js';
import type { Planned, PlannedTarget } from '../plan.js';
import { census, classFindings, filterFindings, firstOf, listed } from './findings.js';
import type { CountedObject, Finding } from './findings.js';
import { SHARING, describedFamilies, rowFindings, variableFinding } from './row-findings.js';
import type { DescribedFamilies } from './row-findings.js';

/** The largest directory takes fewer slices; one that keeps changing gets no more. */
const MAX_LOOKS = 4096;
const MAX_RESTLESS_LOOKS = 100;

/** The last poll result; with `hasMore` if the directory could not be read to its end. */
function pollWhole(watch: Watch): PollResult {
  let seen = watch.poll();
  let restless = 0;
  for (let looks = 1; seen.hasMore && looks < MAX_LOOKS; looks++) {
    if (seen.isUnstable === true && ++restless >= MAX_RESTLESS_LOOKS) break;
    seen = watch.poll();
  }
  return seen;
}

/** A server key, and what it shows. */
interface Watched {
  readonly watch: Watch;
  readonly seen: PollResult;
}

/**
 * Lines about each target: what its server keys show, which root it would take, and which of its
 * configuration and catalogue matches nothing in the tree. Reads each server key once.
 */
export function liveCheck(
  { config, plan }: Planned,
  watchOf: (serverKey: string, definition: TargetDefinition) => Watch,
): readonly string[] {
  const watches = new Map<string, Watched>();
  const see = (serverKey: string, definition: TargetDefinition): Watched => {
    const { format, formatSettings } = definition;
    const key = JSON.stringify([format, formatSettings, serverKey]);
    const known = watches.get(key);
    if (known !== undefined) return known;
    const watch = watchOf(serverKey, definition);
    const watched = { watch, seen: pollWhole(watch) };
    watches.set(key, watched);
    return watched;
  };
  try {
    return config.targets.flatMap((target, index) => {
      const planned = plan[index];
      if (planned === undefined) return [];
      const watched = target.serverKeys.map((key) => see(key, planned.definition));
      const lines = targetLines(target, planned, watched, config);
      return [`${nameOf(target)}:`, ...lines.map((line) => `  ${line}`)];
    });
  } finally {
    for (const { watch } of watches.values()) watch.close();
  }
}

function targetLines(
  target: TargetConfig,
  planned: PlannedTarget,
  watched: readonly Watched[],
  config: Config,
): readonly string[] {
  const keys = watched.map(keyLine);
  const seen = watched.map((each) => each.seen);
  const choice = choose(seen, { app: target.app, hint: target.instance });
  if (choice.kind === 'none') return [...keys, `no root: waiting on ${choice.reason}`];
  return [...keys, ...rootLines(choice, target, planned, config)];
}

/** The state of a server key; where nothing is there, also what is. */
function keyLine({ watch, seen: { serverKey, publisher, source } }: Watched): string {
  const line = `server key ${serverKey}: ${publisher.state}: ${publisher.reason}`;
  const existing = source === undefined ? watch.existing?.() : undefined;
  if (existing === undefined || existing.names.includes(existing.name)) return line;
  return `${line}${existingText(existing.name, existing.names)}`;
}

function rootLines(
  { root, serverKey, others }: ChosenRoot,
  target: TargetConfig,
  { catalogue }: PlannedTarget,
  config: Config,
): readonly string[] {
  const { objects, isWhole } = census(root);
  const filters = compileFilters(catalogue, target);
  const tracked = objects.filter(filters.tracks);
  const variables = tracked.reduce((sum, object) => sum + object.variables.size, 0);
  const { lines, families } = metricsOf(target, catalogue, filters, objects);
  const metrics = [...INTERNAL_FACTS, ...families];
  const idleScopes = config.scopes.filter((each) => {
    const scope = compileScope(each);
    return !metrics.some((metric) => scope.selects(metric));
  });
  const rest = others.length === 0 ? '' : `; not taken: ${listed(others)}`;
  const atPlaces = [
    ...filterFindings(target, catalogue, objects),
    ...variableFinding(root, target.variable, objects),
  ].map((finding) => placed(finding, target, config));
  const scopeLines = idleScopes.map(
    ({ name }) => `metric scope ${quoted(name)} selects nothing of this target`,
  );
  const findings = [
    ...firstOf(atPlaces, 'filters that match nothing'),
    ...(tracked.length === 0 ? ['the filters together leave no object'] : []),
    ...firstOf(scopeLines, 'metric scopes that select nothing'),
    ...lines,
  ];
  return [
    `root ${root.name} of server key ${serverKey}${rest}`,
    `tracks ${tracked.length} of ${pluralize(objects.length, 'object')}, ${pluralize(variables, 'variable')}, ${pluralize(families.size, 'metric')}`,
    ...(isWhole ? [] : ['the tree is larger than what is checked: the rest is left out']),
    ...findings.map((finding) => `warning: ${finding}`),
  ];
}

/** The metrics of a target, and findings about them. */
interface Made {
  readonly lines: readonly string[];
  readonly families: ReadonlySet<FamilyFacts>;
}

/** What a target makes of the objects that it tracks, and what it could make and does not. */
function metricsOf(
  { app, showUncatalogued }: TargetConfig,
  catalogue: Catalogue | undefined,
  filters: Filters,
  objects: readonly CountedObject[],
): Made {
  const { rules } = filters;
  const tracked = objects.filter(filters.tracks);
  if (catalogue === undefined || rules === undefined)
    return ofDescribed(describedFamilies(app, tracked));
  const { lines, without, families } = rowFindings(catalogue, rules, tracked);
  const { idle, strays } = classFindings(catalogue, filters, objects);
  if (!showUncatalogued) return { lines: [...idle, ...strays, ...lines, ...without], families };
  const others = ofDescribed(describedFamilies(app, tracked, uncataloguedIn(catalogue, filters)));
  return {
    lines: [...idle, ...lines, ...others.lines],
    families: new Set([...families, ...others.families]),
  };
}

const ofDescribed = ({ families, shared }: DescribedFamilies): Made => ({
  lines: firstOf(shared, SHARING),
  families,
});

/** A finding with its key path, and its position if a file holds it. */
function placed({ path, sentence }: Finding, target: TargetConfig, config: Config): string {
  const whole = [...target.path, ...path];
  const place = config.at(whole);
  return `${place === '' ? '' : `${place}: `}${keyPath(whole)}: ${sentence}`;
}

const nameOf = ({ app, serverKeys, instance }: TargetConfig): string =>
  `target ${app} on ${listed(serverKeys)}${instance === '' ? '' : `, instance ${quoted(instance)}`}`;

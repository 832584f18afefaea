// Compares a configuration with the existing segments: reports what each target would show.
import type { Catalogue } from '../../catalogue/catalogue.js';
import { compileFilters, uncataloguedIn } from '../../catalogue/match/filters.js';
import type { Filters } from '../../catalogue/match/filters.js';
import type { Config, TargetConfig } from '../../config/resolve.js';
import { compileKeyLabels } from '../../config/key-labels.js';
import { labelsText } from '../../exposition/text/text-syntax.js';
import { pluralize } from '../../pluralize.js';
import { keyPath, quoted } from '../../document/document.js';
import { compileScope } from '../../exposition/page/scope.js';
import type { FamilyMetadata } from '../../model.js';
import { existingText } from '../../shown/shown-text.js';
import { choose } from '../../streams/choose-root.js';
import type { ChosenRoot } from '../../streams/choose-root.js';
import type { PollResult, Poller } from '../../streams/poller.js';
import type { TargetDefinition } from '../../targets/formats.js';
import { pageLevel, pageMetadata } from '../../targets/internal-metrics.js';
import { discoveredName } from '../discovery.js';
import type { Discovered } from '../discovery.js';
import type { Planned, PlannedTarget, RootedTarget } from '../plan.js';
import { collectTree, classFindings, filterFindings, limitLines, joinNames } from './findings.js';
import type { ExistingObject, Finding } from './findings.js';
import {
  SHARING,
  describedFamilies,
  rowFindings,
  unreadCount,
  unreadLines,
  variableFinding,
} from './row-findings.js';
import type { DescribedFamilies } from './row-findings.js';

/** The maximum number of polls of one directory. Even the largest directory needs fewer polls. */
const MAX_POLLS = 4096;
/** The maximum number of polls of a directory that keeps changing. */
const MAX_UNSTABLE_POLLS = 100;

/** Polls until the directory is read. Returns the last result; its `hasMore` is true if a poll limit ended the loop. */
function pollUntilComplete(poller: Poller): PollResult {
  let result = poller.poll();
  let unstable = 0;
  for (let polls = 1; result.hasMore && polls < MAX_POLLS; polls++) {
    if (result.isUnstable === true && ++unstable >= MAX_UNSTABLE_POLLS) break;
    result = poller.poll();
  }
  return result;
}

interface CheckedKey {
  readonly poller: Poller;
  readonly result: PollResult;
}

/**
 * The lines about the targets that discovery would find now, with their labels.
 * @param labelsFrom the setting `labels_from`
 */
export function discoveryLines(
  { targets, leftOut }: Discovered,
  labelsFrom: string,
): readonly string[] {
  const labelsOf = compileKeyLabels(labelsFrom);
  const labels = targets.map(({ serverKey }) => labelsText(labelsOf(serverKey)));
  const matchesNone =
    labelsFrom !== '' && targets.length > 0 && labels.every((each) => each === '');
  return [
    `discovery: ${pluralize(targets.length, 'target')}`,
    ...targets.map((target, index) => {
      const own = labels[index] ?? '';
      return `  ${discoveredName(target)}${own === '' ? '' : ` with ${own}`}`;
    }),
    ...(matchesNone
      ? [`  warning: labels_from matches none of their server keys: ${quoted(labelsFrom)}`]
      : []),
    ...limitLines(leftOut, 'publishers that are left out').map((line) => `  left out: ${line}`),
  ];
}

interface LiveCheck {
  /** About each target: the states of its server keys, its root, and what matches nothing in the tree. */
  readonly lines: readonly string[];
  /** The configured targets with their roots. */
  readonly targets: readonly RootedTarget[];
}

/** Checks the filters, rows and scopes of all targets against their trees. Polls each server key once. */
export function liveCheck(
  { config, plan }: Planned,
  pollerOf: (serverKey: string, definition: TargetDefinition) => Poller,
): LiveCheck {
  const pollers = new Map<string, CheckedKey>();
  const pollOnce = (serverKey: string, definition: TargetDefinition): CheckedKey => {
    const { format, formatSettings } = definition;
    const key = JSON.stringify([format, formatSettings, serverKey]);
    const known = pollers.get(key);
    if (known !== undefined) return known;
    const poller = pollerOf(serverKey, definition);
    const checked = { poller, result: pollUntilComplete(poller) };
    pollers.set(key, checked);
    return checked;
  };
  try {
    const lines: string[] = [];
    const targets: RootedTarget[] = [];
    for (const [index, target] of config.targets.entries()) {
      const planned = plan[index];
      if (planned === undefined) continue;
      const checked = target.serverKeys.map((key) => pollOnce(key, planned.definition));
      const { app, serverKeys, instance, format } = target;
      const results = checked.map(({ result }) => result);
      const choice = choose(results, { app, hint: instance });
      const lastRoot = choice.kind === 'none' ? undefined : { id: choice.root.name };
      targets.push({
        ...{ app, serverKeys, instance, lastRoot },
        ...{ format: { name: format }, isDiscovered: false },
      });
      const own =
        choice.kind === 'none'
          ? [`no root: waiting on ${choice.reason}`]
          : rootLines(choice, target, planned, config);
      lines.push(
        `${nameOf(target)}:`,
        ...[...checked.map(keyLine), ...own].map((line) => `  ${line}`),
      );
    }
    return { lines, targets };
  } finally {
    for (const { poller } of pollers.values()) poller.close();
  }
}

/** The line about the state of a server key. If no publisher uses the key, the line lists the existing keys. */
function keyLine({ poller, result: { serverKey, publisher, source } }: CheckedKey): string {
  const line = `server key ${serverKey}: ${publisher.state}: ${publisher.reason}`;
  const existing = source === undefined ? poller.availableNames?.() : undefined;
  if (existing === undefined || existing.names.includes(existing.name)) return line;
  return `${line}${existingText(existing.name, existing.names)}`;
}

function rootLines(
  { root, serverKey, others }: ChosenRoot,
  target: TargetConfig,
  { catalogue }: PlannedTarget,
  config: Config,
): readonly string[] {
  const { objects, isComplete } = collectTree(root);
  const filters = compileFilters(catalogue, target);
  const tracked = objects.filter(filters.tracks);
  const variables = tracked.reduce((sum, object) => sum + object.variables.size, 0);
  const isOwn = config.settings.catalogueFiles.includes(catalogue?.source.file ?? '');
  const { lines, notes, families } = metricsOf(target, catalogue, filters, { objects, isOwn });
  const metrics = [...pageMetadata(pageLevel(config.settings)), ...families];
  const unmatchedScopes = config.scopes.filter((each) => {
    const scope = compileScope(each);
    return !metrics.some((metric) => scope.selects(metric));
  });
  const alternatives = others.length === 0 ? '' : `; not selected: ${joinNames(others)}`;
  const positioned = [
    ...filterFindings(target, catalogue, objects),
    ...variableFinding(root, target.variable, objects),
  ].map((finding) => withPosition(finding, target, config));
  const scopeLines = unmatchedScopes.map(
    ({ name }) => `metric scope ${quoted(name)} selects nothing of this target`,
  );
  const findings = [
    ...limitLines(positioned, 'filters that match nothing'),
    ...(tracked.length === 0 ? ['the filters together select no object'] : []),
    ...limitLines(scopeLines, 'metric scopes that select nothing'),
    ...lines,
  ];
  return [
    `root ${root.name} of server key ${serverKey}${alternatives}`,
    `tracks ${tracked.length} of ${pluralize(objects.length, 'object')}, ${pluralize(variables, 'variable')}, ${pluralize(families.size, 'metric')}`,
    ...(isComplete
      ? []
      : ['the tree is larger than the limit of this check; the rest is not checked']),
    ...notes,
    ...findings.map((finding) => `warning: ${finding}`),
  ];
}

interface TargetMetrics {
  readonly lines: readonly string[];
  /** Lines that are not warnings. */
  readonly notes: readonly string[];
  readonly families: ReadonlySet<FamilyMetadata>;
}

/** The metrics of the tracked objects, and findings about objects and variables without metrics. */
function metricsOf(
  { app, showUncatalogued }: TargetConfig,
  catalogue: Catalogue | undefined,
  filters: Filters,
  { objects, isOwn }: { readonly objects: readonly ExistingObject[]; readonly isOwn: boolean },
): TargetMetrics {
  const { rowIndex } = filters;
  const tracked = objects.filter(filters.tracks);
  if (catalogue === undefined || rowIndex === undefined)
    return declared(describedFamilies(app, tracked));
  const found = rowFindings(catalogue, rowIndex, tracked);
  const { lines, families } = found;
  const { unmatched, withoutRows } = classFindings(catalogue, filters, objects);
  if (!showUncatalogued)
    return {
      // Name unread variables only for the user's own catalogue, to which the user can add rows. Otherwise, only count
      // them.
      lines: [...unmatched, ...withoutRows, ...lines, ...(isOwn ? unreadLines(found) : [])],
      notes: isOwn ? [] : unreadCount(found, app),
      families,
    };
  const others = declared(describedFamilies(app, tracked, uncataloguedIn(catalogue, filters)));
  return {
    lines: [...unmatched, ...lines, ...others.lines],
    notes: [],
    families: new Set([...families, ...others.families]),
  };
}

const declared = ({ families, shared }: DescribedFamilies): TargetMetrics => ({
  lines: limitLines(shared, SHARING),
  notes: [],
  families,
});

/** The line for a finding, with its key path, and with its position if the value is in a file. */
function withPosition({ path, sentence }: Finding, target: TargetConfig, config: Config): string {
  const whole = [...target.path, ...path];
  const place = config.at(whole);
  return `${place === '' ? '' : `${place}: `}${keyPath(whole)}: ${sentence}`;
}

const nameOf = ({ app, serverKeys, instance }: TargetConfig): string =>
  `target ${app} on ${joinNames(serverKeys)}${instance === '' ? '' : `, instance ${quoted(instance)}`}`;

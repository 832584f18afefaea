// Warnings about metric labels that Prometheus or its service discovery also sets.
import type { Catalogue } from '../catalogue/catalogue.js';
import { compilePathPattern } from '../catalogue/match/patterns.js';
import { ownLabelsOf } from '../catalogue/row.js';
import { keyLabelNames } from '../config/key-labels.js';
import type { Config, TargetConfig } from '../config/resolve.js';
import { keyPath, quoted } from '../document/document.js';
import type { Path } from '../document/document.js';
import { parseToml } from '../document/toml-file.js';
import type { Plan } from './plan.js';

/**
 * The labels that parts of a monitoring system set, and what a user can do about a clash. `docs/http.md` has the same
 * table. Labels that always clash, such as `job`, are errors (`labelProblem`).
 */
const CLASHES: readonly (readonly [labels: readonly string[], sentence: string])[] = [
  [
    ['namespace', 'pod', 'container', 'endpoint', 'service', 'node'],
    'is also a label of targets under the Prometheus Operator; ' +
      'set honor_labels: true in the scrape job, or rename the label',
  ],
  [
    ['app', 'server_key', 'root', 'hint', 'twin'],
    'is also a label that /-/targets gives each target; rename it',
  ],
  [
    ['cluster', 'prometheus', 'prometheus_replica'],
    'is often an external label of the Prometheus server; rename it',
  ],
  [
    ['alertname', 'alertstate', 'severity'],
    'is also a label of alerts; the label of an alert replaces it; rename it',
  ],
];

/** The sentence about a label that clashes; undefined for any other label. */
function clashOf(label: string): string | undefined {
  if (label.startsWith('exported_'))
    return 'begins with exported_, the prefix that Prometheus gives to labels that clash; rename it';
  return CLASHES.find(([labels]) => labels.includes(label))?.[1];
}

/** A label, and the path of the value that names it in a configuration or catalogue file. */
type PlacedLabel = readonly [label: string, path: Path];

/** Warns of each clashing label: once for each list of path labels, and once for each catalogue file. */
export function labelWarnings(config: Config, plan: Plan): readonly string[] {
  const files = new Set(
    plan.flatMap(({ catalogue }) =>
      catalogue !== undefined && config.settings.catalogueFiles.includes(catalogue.source.file)
        ? [catalogue]
        : [],
    ),
  );
  const fromKeys = keyLabelNames(config.discover.labelsFrom).map(
    (label) => [label, ['discover', 'labels_from']] as const,
  );
  return [
    ...clashes(fromKeys).map(([path, sentence]) => `${config.subject(path)}: ${sentence}`),
    ...config.targets.flatMap((target) =>
      clashes(pathLabels(target)).map(
        ([path, sentence]) => `${config.subject([...target.path, ...path])}: ${sentence}`,
      ),
    ),
    ...[...files].flatMap(catalogueWarnings),
  ];
}

/** The labels of the setting `path_labels`. Another check reports invalid patterns. */
const pathLabels = ({ pathLabels }: TargetConfig): readonly PlacedLabel[] =>
  pathLabels.flatMap((text, index) =>
    compilePathPattern(text).labelNames.map((label) => [label, ['path_labels', index]] as const),
  );

function catalogueWarnings({ classes, source }: Catalogue): readonly string[] {
  const found = clashes(
    classes.flatMap(({ paths, rows }, index): readonly PlacedLabel[] => [
      ...paths.flatMap(({ labelNames }, at) =>
        labelNames.map((label) => [label, ['classes', index, 'paths', at]] as const),
      ),
      ...rows.flatMap((row, at) =>
        ownLabelsOf(row).map((label) => [label, ['classes', index, 'metrics', at]] as const),
      ),
    ]),
  );
  if (found.length === 0) return [];
  const { places } = parseToml(source.file, source.text);
  return found.map(
    ([path, sentence]) =>
      `${places.at(places.offset(path, 'value') ?? 0)}: ${keyPath(path)}: ${sentence}`,
  );
}

/** For each label that clashes: the first place of the label, and a sentence about the clash. */
function clashes(labels: readonly PlacedLabel[]): readonly (readonly [Path, string])[] {
  const seen = new Set<string>();
  return labels.flatMap(([label, path]) => {
    const clash = clashOf(label);
    if (clash === undefined || seen.has(label)) return [];
    seen.add(label);
    return [[path, `the label ${quoted(label)} ${clash}`] as const];
  });
}

// Warnings about metric labels that Prometheus or its service discovery also sets.
import type { Catalogue } from '../catalogue/catalogue.js';
import { compilePathPattern } from '../catalogue/match/patterns.js';
import { ownLabelsOf } from '../catalogue/row.js';
import type { Config, TargetConfig } from '../config/resolve.js';
import { keyPath, quoted } from '../document/document.js';
import type { Path } from '../document/document.js';
import { parseToml } from '../document/toml-file.js';
import type { Plan } from './plan.js';

/** The labels that a part of a monitoring system sets, and what a user can do about a clash. */
interface Owner {
  readonly labels: readonly string[];
  readonly sentence: string;
}

/** `docs/http.md` has the same table. Labels that always clash, such as `job`, are errors (`labelProblem`). */
const OWNERS: readonly Owner[] = [
  {
    labels: ['namespace', 'pod', 'container', 'endpoint', 'service', 'node'],
    sentence:
      'is also a label of targets under the Prometheus Operator; ' +
      'set honor_labels: true in the scrape job, or rename the label',
  },
  {
    labels: ['app', 'server_key', 'root', 'hint', 'twin'],
    sentence: 'is also a label that /-/targets gives each target; rename it',
  },
  {
    labels: ['cluster', 'prometheus', 'prometheus_replica'],
    sentence: 'is often an external label of the Prometheus server; rename it',
  },
  {
    labels: ['alertname', 'alertstate', 'severity'],
    sentence: 'is also a label of alerts; the label of an alert replaces it; rename it',
  },
];
const RENAMED: Owner = {
  labels: [],
  sentence:
    'begins with exported_, the prefix that Prometheus gives to labels that clash; rename it',
};

const ownerOf = (label: string): Owner | undefined =>
  label.startsWith('exported_') ? RENAMED : OWNERS.find(({ labels }) => labels.includes(label));

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
  return [
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

/** For each label that has an owner: the first place of the label, and a sentence about the clash. */
function clashes(labels: readonly PlacedLabel[]): readonly (readonly [Path, string])[] {
  const seen = new Set<string>();
  return labels.flatMap(([label, path]) => {
    const owner = ownerOf(label);
    if (owner === undefined || seen.has(label)) return [];
    seen.add(label);
    return [[path, `the label ${quoted(label)} ${owner.sentence}`] as const];
  });
}

// Writes docs/metrics.md from the built-in catalogues.
import { loadCatalogues } from './builtin.js';
import type { Catalogue } from './catalogue.js';
import type { CatalogueClass } from './catalogue-class.js';
import { ownLabelsOf } from './row.js';
import type { Row } from './row.js';

/**
 * For each metric, the first application that has it. The key is the metric's line without the prefix of the
 * application.
 */
type FirstApps = Map<string, string>;

const code = (text: string): string => `\`${text}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

/** The page as Markdown: for each built-in application, its metrics by class alias, and its filter groups. */
export function metricsMarkdown(): string {
  const firstApps: FirstApps = new Map();
  const head = [
    '<!-- Generated from src/catalogue/ads.toml, adh.toml, ats.toml and jvm.toml: change those, not this. -->',
    '# Application metrics',
    'Use this page to look up a metric of ADS, ADH, ATS or JVMs, or to choose what a target shows: ' +
      'the names of classes below belong in `classes`, groups in `seed_path_groups`, and paths in `seed_paths`. ' +
      '[Catalogues](catalogue.md#what-a-target-tracks) explains these filters.',
    'Each section starts with the class ids that the objects have, and the paths of the objects. ' +
      'Names in braces in a path, such as `{transport}`, are labels of all metrics below; ' +
      'the braces after a metric contain its other labels; if a label of a metric never changes, the braces also contain its value. ' +
      'Names that end in `_total` belong to counters, and names that end in `_info` to info metrics; any other metric is a gauge unless its type follows.',
  ];
  const applications = [...loadCatalogues().values()].flatMap((catalogue) =>
    application(catalogue, firstApps),
  );
  return `${[...head, ...applications].join('\n\n')}\n`;
}

const application = (catalogue: Catalogue, firstApps: FirstApps): readonly string[] => [
  `## ${catalogue.app}`,
  ...catalogue.classes.flatMap((owner) => classSection(owner, catalogue.app, firstApps)),
  ...groupSection(catalogue),
];

const groupSection = ({ app, seedPathGroups }: Catalogue): readonly string[] =>
  seedPathGroups.size === 0
    ? []
    : [
        `### Filter groups of ${app}`,
        [...seedPathGroups].map(([name, paths]) => `* ${code(name)}: ${codes(paths)}`).join('\n'),
      ];

const classSection = (
  owner: CatalogueClass,
  app: string,
  firstApps: FirstApps,
): readonly string[] => [
  `### ${code(owner.alias)}`,
  `${codes(owner.classIds)} at ${codes(owner.paths.map(({ text }) => text))}.`,
  ...(owner.isDescribed
    ? ['The exporter shows other variables as their publisher describes them.']
    : []),
  ...metricList(owner.rows, app, firstApps),
];

/** A list of the metrics of a class. Metrics that an earlier application describes appear by name only. */
function metricList(rows: readonly Row[], app: string, firstApps: FirstApps): readonly string[] {
  const items: string[] = [];
  const shared = new Map<string, string[]>();
  for (const family of new Set(rows.map((row) => row.family))) {
    const same = rows.filter((row) => row.family === family);
    const item = `${metricText(family, same)}: ${family.help}`;
    const key = item.replace(`${app}_`, '');
    const first = firstApps.get(key);
    if (first === undefined) {
      firstApps.set(key, app);
      items.push(`* ${item}`);
    } else shared.set(first, [...(shared.get(first) ?? []), code(family.name)]);
  }
  const asIn = [...shared].map(
    ([first, names]) => `* As in [${first}](#${first}): ${names.join(', ')}`,
  );
  const list = [...asIn, ...items];
  return list.length === 0 ? [] : [list.join('\n')];
}

/** A metric with its labels, and with its type unless the name shows the type. */
function metricText({ name, type }: Row['family'], rows: readonly Row[]): string {
  const labels = [...new Set(rows.flatMap(ownLabelsOf))].map((label) => labelText(label, rows));
  const text = code(labels.length === 0 ? name : `${name}{${labels.join()}}`);
  return type === 'gauge' || /_(total|info)$/.test(name) ? text : `${text} (${type})`;
}

/** A label, with the fixed values that rows give it. */
function labelText(label: string, rows: readonly Row[]): string {
  const values = new Set(rows.flatMap(({ labels }) => labels[label] ?? []));
  return values.size === 0 ? label : `${label}=${[...values].join('/')}`;
}

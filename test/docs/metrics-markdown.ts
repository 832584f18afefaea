// Writes the generated part of docs/metrics.md from the built-in catalogues.
import { loadCatalogues } from '#app/catalogue/builtin.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import type { CatalogueClass } from '#app/catalogue/catalogue-class.js';
import { ownLabelsOf } from '#app/catalogue/row.js';
import type { Row } from '#app/catalogue/row.js';

/**
 * For each metric, the first application that has it. The key is the metric's line without the prefix of the
 * application.
 */
type FirstApps = Map<string, string>;

const code = (text: string): string => `\`${text}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

/** The generated part of the page: for each built-in application, its metrics by class alias, and its filter groups. */
export function metricsMarkdown(): string {
  const firstApps: FirstApps = new Map();
  const sections = [...loadCatalogues().values()].flatMap((catalogue) =>
    application(catalogue, firstApps),
  );
  return `${sections.join('\n\n')}\n`;
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

// Writes docs/metrics.md from the built-in catalogues.
import { loadCatalogues } from './builtin.js';
import type { Catalogue } from './catalogue.js';
import type { CatalogueClass } from './catalogue-class.js';
import { ownLabelsOf } from './row.js';
import type { Row } from './row.js';

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
const codes = (texts: readonly string[]): string => texts.map(code).join(', ');
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** The page with the metrics of every built-in application, by class alias, and its groups. */
export function metricsMarkdown(): string {
  const catalogues = [...loadCatalogues().values()];
  const head = [
    '<!-- Generated from src/catalogue/ads.toml, adh.toml, ats.toml and jvm.toml: change those, not this. -->',
    '# Application metrics',
    'You need this page to look up a metric of ADS, ADH, ATS or JVMs, or to choose what a target shows. ' +
      'A target takes class aliases in `classes`, groups in `seed_path_groups`, and paths in `seed_paths`; ' +
      '[Catalogues](catalogue.md#what-a-target-tracks) explains these filters.',
    'The names in braces in the path of a class, such as `{transport}`, are labels of all its metrics. ' +
      'The brackets after a metric contain its type and further labels, with their values if these are fixed. ' +
      'Without a type there, a metric that ends in `_total` is a counter, one in `_info` an info metric, any other a gauge.',
  ];
  return `${[...head, ...catalogues.flatMap(application)].join('\n\n')}\n`;
}

const application = (catalogue: Catalogue): readonly string[] => [
  `## ${catalogue.app}`,
  ...catalogue.classes.flatMap(classSection),
  ...groupSection(catalogue),
];

const groupSection = ({ app, seedPathGroups }: Catalogue): readonly string[] =>
  seedPathGroups.size === 0
    ? []
    : [
        `### Filter groups of ${app}`,
        table(
          ['Group', 'Seed paths'],
          [...seedPathGroups].map(([name, paths]) => [code(name), codes(paths)]),
        ),
      ];

const classSection = (owner: CatalogueClass): readonly string[] => [
  `### Class ${code(owner.alias)}`,
  `Objects of ${codes(owner.classIds)} at ${codes(owner.paths.map(({ text }) => text))}.`,
  ...(owner.isDescribed
    ? ['Variables without a row are shown as their publisher describes them.']
    : []),
  ...(owner.rows.length === 0 ? [] : [metricList(owner.rows)]),
];

function metricList(rows: readonly Row[]): string {
  const firsts = rows.filter((one, at) => rows.findIndex((r) => r.family === one.family) === at);
  const items = firsts.map((first) => {
    const { name, type, help } = first.family;
    const same = rows.filter(({ family }) => family === first.family);
    const showsType = type === 'gauge' || /_(total|info)$/.test(name);
    const remarks = [
      ...(showsType ? [] : [type]),
      ...ownLabelsOf(first).map((label) => labelText(label, same)),
    ];
    return `* ${code(name)}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}: ${help}`;
  });
  return items.join('\n');
}

/** A label with the values that the rows themselves give it. */
function labelText(label: string, rows: readonly Row[]): string {
  const values = new Set(rows.flatMap(({ labels }) => labels[label] ?? []));
  return values.size === 0 ? code(label) : `${code(label)} ${[...values].join('/')}`;
}

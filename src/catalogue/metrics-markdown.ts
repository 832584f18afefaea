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
    'A target may list the class aliases below in `classes`, and the groups in `seed_path_groups`; ' +
      '`seed_paths` takes paths. [catalogue.md](catalogue.md) explains paths and labels, ' +
      'and how to write a catalogue of your own.',
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
  ...(owner.rows.length === 0
    ? []
    : [table(['Metric', 'Type', 'Labels', 'Meaning'], metricRows(owner))]),
];

function metricRows({ paths, rows }: CatalogueClass): readonly (readonly string[])[] {
  const firsts = rows.filter((one, at) => rows.findIndex((r) => r.family === one.family) === at);
  return firsts.map((first) => {
    const same = rows.filter(({ family }) => family === first.family);
    const labels = [...(paths[0]?.labelNames ?? []), ...ownLabelsOf(first)];
    const { name, type, help } = first.family;
    return [code(name), type, labels.map((label) => labelCell(label, same)).join(', '), help];
  });
}

/** A label with the values that the rows themselves give it. */
function labelCell(label: string, rows: readonly Row[]): string {
  const values = new Set(rows.flatMap(({ labels }) => labels[label] ?? []));
  return values.size === 0 ? code(label) : `${code(label)} (${[...values].join(', ')})`;
}

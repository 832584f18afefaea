// Compares the exporter's metrics for applications without a catalogue with the tables in docs/catalogue.md.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { BASE_UNITS } from '#app/catalogue/names.js';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { FakeSource } from '../../support/fake-source.js';
import type { VariableOptions } from '../../support/fake-source.js';
import { testView } from '../test-view.js';

const [, section = ''] = readFileSync('docs/catalogue.md', 'utf8').split(
  '\n## Without a catalogue\n',
);
const plain = (cell: string): string => cell.trim().replaceAll('`', '');
const rows = [...(section.split('\n`path_labels`')[0] ?? '').matchAll(/^\| `.*$/gm)].map(([row]) =>
  row.split('|').slice(1, -1).map(plain),
);

const PUBLISHED: Readonly<Record<string, VariableOptions>> = {
  gauge: { type: 'f64', kind: 'gauge', value: 1 },
  counter: { type: 'u64', kind: 'counter', value: 1 },
  string: { type: 'string', value: 'north' },
  histogram: {
    ...{ type: 'histogram', schema: [1] },
    value: { type: 'histogram', counts: BigUint64Array.of(1n, 2n), sum: 9 },
  },
};

describe('docs/catalogue.md on metrics without a catalogue', () => {
  it('has a row for every kind of variable', () =>
    expect(new Set(rows.map(([, , , published]) => published))).to.deep.equal(
      new Set(Object.keys(PUBLISHED)),
    ));

  for (const [
    app = '',
    className = '',
    variable = '',
    published = '',
    unit = '',
    metric = '',
  ] of rows)
    it(`gives the right metric of variable ${variable} in class ${className} of ${app}: ${metric}`, () => {
      const source = new FakeSource();
      const root = source.addObject(`h.1.${app}`, className);
      const options = PUBLISHED[published] ?? { type: 'u64' };
      source.addVariable(root, variable, { ...options, unit });
      const { lines, page } = testView(source, root, { app });
      const names = lines().map((line) => line.replace(/\{.*/, ''));
      expect(names.map((name) => name.replace(/_(bucket|sum|count)$/, ''))).to.include(metric);
      const family = metric.replace(/_total$/, '');
      const hasUnit = unit !== '' && family.endsWith(`_${unit}`);
      expect(page(OPEN_METRICS).includes(`# UNIT ${family} ${unit}\n`)).to.equal(hasUnit);
    });

  it('gives the labels of each object from its path', () => {
    const [, list = ''] = /^path_labels = (\[.*\])$/m.exec(section) ?? [];
    const objects = [...section.matchAll(/^\| `([^`]+)` \| `(object=[^`]+)` \|$/gm)];
    expect(objects.length).to.be.at.least(4);
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    for (const [, path = ''] of objects) {
      const object = source.addObject(`h.1.shop.${path}`, 'Thing', { parent: root });
      source.addVariable(object, 'count', { type: 'u64', value: 1 });
    }
    const pathLabels = JSON.parse(list) as string[];
    expect(testView(source, root, { pathLabels }).lines()).to.have.members(
      objects.map(([, , labels = '']) => `shop_thing_count{${labels}} 1`),
    );
  });

  it('lists all base units', () => {
    const [, units = ''] = /^Base units are (.*)\. If/m.exec(section) ?? [];
    const listed = [...units.matchAll(/`([a-z]+)`/g)].map(([, unit]) => unit);
    expect(new Set(listed)).to.deep.equal(BASE_UNITS);
  });
});

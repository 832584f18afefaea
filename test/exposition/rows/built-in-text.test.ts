// Tests the whole text of the built-in applications, for trees with every variable that their rows read.
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import type { MetricType } from '#app/model.js';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { openMetricsErrors } from '../../end-to-end/page.js';
import { FakeSource } from '../../support/fake-source.js';
import type { FakeObject } from '../../support/fake-source.js';
import { readOpenMetrics } from '../../support/open-metrics-checker.js';
import { testView } from '../test-view.js';
import { familiesOf } from '../../support/snapshot-of.js';
import { needsPrograms } from '../../support/needs.js';

/** A tree with some objects of each class of a built-in catalogue, and every variable that its rows read. */
function treeOf(app: 'ads' | 'adh' | 'ats', source: FakeSource): FakeObject {
  const catalogue = loadCatalogues().get(app);
  const classes = catalogue?.classes ?? [];
  const at = (path: string) => classes.find(({ paths }) => paths[0]?.text === path);
  const rootClass = at('@root')?.classIds[0] ?? '';
  const root = source.addObject(`h.1.${app}`, rootClass);
  const objects = new Map<string, FakeObject>([[` ${rootClass}`, root]]);
  const objectAt = (path: string, className: string, parent = root): FakeObject => {
    const key = `${path} ${className}`;
    const known = objects.get(key);
    if (known !== undefined) return known;
    const object = source.addObject(`h.1.${app}.${path}`, className, { parent });
    objects.set(key, object);
    return object;
  };
  const named = new Set<string>();
  for (const { paths, classIds, rows } of classes)
    for (const example of ['1', '2 "x"']) {
      const segments = paths[0]?.segments.map(
        ({ literal, matches }) =>
          literal ?? [example, 'mount1', 'user1', '8101'].find((text) => matches(text)) ?? '7',
      );
      const path = segments?.join('.') ?? '';
      for (const row of rows) {
        const owner = objectAt(path, classIds[0] ?? '');
        const object =
          row.classId === undefined
            ? owner
            : objectAt(path === '' ? row.at : `${path}.${row.at}`, row.classId, owner);
        const add = (name: string, type: 'u64' | 'string') => {
          const key = `${object.id} ${name}`;
          if (named.has(key)) return;
          named.add(key);
          const value = type === 'string' ? `text\n"${name}"` : BigInt(named.size);
          source.addVariable(object, name, { type, value });
        };
        for (const { variable, types } of row.inputs)
          add(variable.replace(/\{.*\}/, '14002'), types[0] === 'string' ? 'string' : 'u64');
      }
    }
  return root;
}

const PLAIN: readonly MetricType[] = ['gauge', 'counter', 'unknown'];

describe('the page of the built-in application', () => {
  for (const app of ['ads', 'adh', 'ats'] as const) {
    it(`${app} has each numeric metric of the catalogue`, () => {
      const source = new FakeSource();
      const catalogue = loadCatalogues().get(app);
      const { render, clashes } = testView(source, treeOf(app, source), { app, catalogue });
      const names = new Set(render().metadata.map(({ name }) => name));
      const wanted = (catalogue?.classes ?? []).flatMap(({ rows }) =>
        rows.flatMap(({ family, inputs }) =>
          PLAIN.includes(family.type) && inputs[0]?.types[0] !== 'string' ? family.name : [],
        ),
      );
      expect([...names]).to.include.members([...new Set(wanted)]);
      expect(clashes).to.deep.equal([]);
    });

    it(`${app} has the type and unit of each metric in OpenMetrics`, () => {
      const source = new FakeSource();
      const catalogue = loadCatalogues().get(app);
      const { page, render } = testView(source, treeOf(app, source), { app, catalogue });
      const read = readOpenMetrics(page(OPEN_METRICS));
      const headers = read.map(({ type, unit, samples }) => ({
        type,
        unit,
        lines: samples.length,
      }));
      const wanted = familiesOf(render()).map(({ metadata: { type, unit }, text }) => ({
        type,
        unit,
        lines: text.split('\n').length - 1,
      }));
      expect(headers).to.deep.equal(wanted);
      expect(read.length).to.be.greaterThan(50);
    });

    it(`${app} is valid OpenMetrics for Prometheus`, function () {
      needsPrograms(this, 'promtool');
      const source = new FakeSource();
      const catalogue = loadCatalogues().get(app);
      const { page } = testView(source, treeOf(app, source), { app, catalogue });
      expect(openMetricsErrors(page(OPEN_METRICS))).to.equal('');
    });

    it(`${app} passes promtool check metrics`, function () {
      needsPrograms(this, 'promtool');
      const source = new FakeSource();
      const catalogue = loadCatalogues().get(app);
      const { text } = testView(source, treeOf(app, source), { app, catalogue });
      const output = execFileSync('promtool', ['check', 'metrics'], { input: text() });
      expect(output.toString()).to.equal('');
    });
  }
});

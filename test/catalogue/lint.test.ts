import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import type { Catalogue } from '#app/catalogue/catalogue.js';
import { ownLabelsOf } from '#app/catalogue/row.js';
import type { Row } from '#app/catalogue/row.js';
import { OBJECT_STATES } from '#app/model.js';
import { needs } from '../support/needs.js';

const TEXT_TYPES: Readonly<Record<string, string>> = {
  info: 'gauge',
  stateset: 'gauge',
  unknown: 'untyped',
};

/** One sample of every row, as Prometheus text: enough for a linter of names, types and labels. */
function sample({ families, classes }: Catalogue): string {
  const lines = new Map([...families.keys()].map((name) => [name, [] as string[]]));
  for (const { paths, rows } of classes)
    for (const row of rows)
      lines.get(row.family.name)?.push(...series(row, paths[0]?.labelNames ?? []));
  return [...families.values()]
    .flatMap(({ name, type, help }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${TEXT_TYPES[type] ?? type}`,
      ...(lines.get(name) ?? []),
    ])
    .concat('')
    .join('\n');
}

function series(row: Row, pathLabels: readonly string[]): string[] {
  const { name } = row.family;
  const labels = [...pathLabels, ...ownLabelsOf(row)];
  const pairs = labels.map((label) => `${label}="${row.labels[label] ?? 'x'}"`);
  const line = (suffix: string, ...more: string[]): string =>
    `${name}${suffix}{${[...pairs, ...more].join(',')}} 1`;
  const totals = [line('_sum'), line('_count')];
  switch (row.family.type) {
    case 'stateset':
      return (row.inputs[0]?.texts ?? OBJECT_STATES).map((state) => line('', `${name}="${state}"`));
    case 'histogram':
      return [line('_bucket', 'le="+Inf"'), ...totals];
    case 'summary':
      return totals;
    default:
      return [line('')];
  }
}

describe('the metrics of the built-in catalogues', () => {
  for (const [app, catalogue] of loadCatalogues())
    it(`pass "promtool check metrics": ${app}`, function () {
      const lint = spawnSync('promtool', ['check', 'metrics'], { input: sample(catalogue) });
      needs(this, lint.error === undefined, 'promtool is not in PATH');
      expect(lint.stdout.toString() + lint.stderr.toString()).to.equal('');
      expect(lint.status).to.equal(0);
    });

  it('all have a help sentence', () => {
    for (const { families } of loadCatalogues().values())
      for (const { name, help } of families.values())
        expect(help, name).to.match(/^([A-Z0-9]).{8,}\.$/);
  });

  it('use base units only', () => {
    const notBase = /_(ms|millis|micros|minutes|hours|days|kb|mb|percent|percentage)(_|$)/;
    for (const { families } of loadCatalogues().values())
      for (const name of families.keys()) expect(name).not.to.match(notBase);
  });
});

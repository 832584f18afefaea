import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { compileFilters } from '#app/catalogue/match/filters.js';
import type { ObjectRows, RowMatch } from '#app/catalogue/match/row-index.js';
import { indexRows } from '#app/catalogue/match/row-index.js';
import { objectsOf, sharedText } from './recorded-tree.js';
import type { RecordedObject } from './recorded-tree.js';
import { needs } from '../support/needs.js';

/** The labels that distinguish series. */
const labelsOf = ({ labels }: ObjectRows, { nameLabels, row }: RowMatch) =>
  Object.entries({ ...labels, ...nameLabels, ...row.labels }).toSorted();

describe('the adh catalogue on the tree of a real ADH 3.8', () => {
  const adh = loadCatalogues().get('adh');
  let objects: readonly RecordedObject[] = [];
  before(function () {
    const scenario = sharedText('adh-3.8-recorded.scenario.json');
    needs(
      this,
      scenario !== undefined && adh !== undefined,
      'the recorded tree is not beside the project',
    );
    objects = objectsOf(scenario);
  });

  for (const owner of adh?.classes ?? [])
    for (const row of owner.rows)
      it(`finds the variables of ${row.family.name} (${row.where})`, () => {
        const rowIndex = indexRows({ classes: [{ ...owner, rows: [row] }] });
        const read = objects.filter((object) => rowIndex.reads(object));
        expect(read.length, 'objects read').to.be.greaterThan(0);
        for (const { id, variables } of read)
          for (const { variable, pattern, types } of row.inputs)
            if (pattern === undefined)
              expect(types[0] === 'string' ? ['string'] : types, `${id} ${variable}`).to.include(
                variables.get(variable),
              );
      });

  it('gives no two series of a root the same name and labels', () => {
    const rowIndex = indexRows({ classes: adh?.classes ?? [] });
    const seen = new Map<string, string>();
    for (const object of objects)
      for (const found of rowIndex.rowsFor(object))
        for (const name of [...object.variables.keys()])
          for (const use of found.classRows.matchesOf(name)) {
            const labels = JSON.stringify(labelsOf(found, use));
            const key = `${object.root} ${use.row.family.name} ${labels}`;
            const source = `${object.id} ${use.row.where}`;
            expect(seen.get(key) ?? source, key).to.equal(source);
            seen.set(key, source);
          }
    expect(seen.size).to.be.greaterThan(300);
  });

  it('has only filter groups that select objects', () => {
    for (const group of adh?.seedPathGroups.keys() ?? []) {
      const given = { classes: [], seedPathGroups: [group], seedPaths: [] };
      const { tracks } = compileFilters(adh, given);
      expect(objects.filter(tracks).length, group).to.be.greaterThan(0);
    }
  });

  it('with a class filter selects exactly the objects that the rows of this class read', () => {
    const read = new Map<string, string[]>();
    const rowIndex = indexRows({ classes: adh?.classes ?? [] });
    for (const object of objects)
      for (const { classRows } of rowIndex.rowsFor(object))
        read.set(classRows.alias, [...(read.get(classRows.alias) ?? []), object.id]);
    for (const { alias } of adh?.classes ?? []) {
      const given = { classes: [alias], seedPathGroups: [], seedPaths: [] };
      const { tracks } = compileFilters(adh, given);
      expect(objects.filter(tracks).map(({ id }) => id)).to.deep.equal(read.get(alias));
    }
  });
});

import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { variablesOf } from '#app/catalogue/row.js';
import { planTree } from '#app/simulator/tree-plan.js';

describe('planTree', () => {
  for (const app of ['ads', 'adh', 'ats']) {
    const catalogue = loadCatalogues().get(app);
    if (catalogue === undefined) throw new Error(`no catalogue of ${app}`);
    const plan = planTree(catalogue, 150);
    const objects = plan.flatMap((instance) => instance.objects);

    it(`${app}: plans every instance with its upper objects first`, () => {
      for (const { objects: own } of plan)
        own.forEach(({ seedPath }, index) => {
          const later = own.slice(index + 1).map((each) => each.seedPath);
          const above = later.filter((path) => path === '' || seedPath.startsWith(`${path}.`));
          expect(above, `above ${seedPath}`).to.deep.equal([]);
        });
    });

    it(`${app}: gives one seed path one class`, () => {
      const classes = new Map<string, string>();
      for (const { seedPath, className } of objects) {
        expect(classes.get(seedPath) ?? className, seedPath).to.equal(className);
        classes.set(seedPath, className);
      }
    });

    it(`${app}: has the variables that every row reads`, () => {
      const planned = new Set(
        objects.flatMap(({ variables }) => variables.map(({ name }) => name)),
      );
      for (const row of catalogue.classes.flatMap(({ rows }) => rows)) {
        for (const name of variablesOf(row)) expect(planned.has(name), name).to.be.true;
        if (row.kind === 'scalar' && row.pattern !== undefined)
          expect([...planned].some((name) => row.pattern?.capture(name))).to.be.true;
      }
    });
  }
});

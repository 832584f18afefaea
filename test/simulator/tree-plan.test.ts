import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { planTree } from '#app/simulator/tree-plan.js';

describe('planTree', () => {
  for (const [app, catalogue] of loadCatalogues())
    it(`plans approximately the requested number of objects for ${app}, and at least one of each class`, () => {
      const count = (objects: number) =>
        planTree(catalogue, objects).flatMap((instance) => instance.objects).length;
      const least = count(1);
      expect(least).to.be.at.least(catalogue.classes.length);
      for (const wanted of [100, 150, 300, 1000, 2000, 20_000])
        expect(count(wanted)).to.be.within(wanted - least, wanted + least);
    });

  for (const app of ['ads', 'adh', 'ats']) {
    const catalogue = loadCatalogues().get(app);
    if (catalogue === undefined) throw new Error(`no catalogue of ${app}`);
    const plan = planTree(catalogue, 150);
    const objects = plan.flatMap((instance) => instance.objects);

    it(`plans each parent object of ${app} before its children`, () => {
      for (const { objects: own } of plan)
        own.forEach(({ seedPath }, index) => {
          const later = own.slice(index + 1).map((each) => each.seedPath);
          const above = later.filter((path) => path === '' || seedPath.startsWith(`${path}.`));
          expect(above, `above ${seedPath}`).to.deep.equal([]);
        });
    });

    it(`plans no objects of different classes at the same place of the tree of ${app}`, () => {
      const classes = new Map<string, string>();
      for (const { seedPath, className } of objects) {
        expect(classes.get(seedPath) ?? className, seedPath).to.equal(className);
        classes.set(seedPath, className);
      }
    });

    it(`plans every variable that a catalogue row of ${app} reads`, () => {
      const planned = new Set(
        objects.flatMap(({ variables }) => variables.map(({ name }) => name)),
      );
      for (const { inputs } of catalogue.classes.flatMap(({ rows }) => rows))
        for (const { variable, pattern } of inputs)
          if (pattern === undefined) expect(planned.has(variable), variable).to.be.true;
          else expect([...planned].some((name) => pattern.capture(name))).to.be.true;
    });
  }
});

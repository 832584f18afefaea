import { expect } from 'chai';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { Random } from '#app/simulator/course.js';
import { LiveTree, planPlainTree } from '#app/simulator/live-tree.js';
import { planTree, withRunFacts } from '#app/simulator/tree-plan.js';

describe('withRunFacts', () => {
  for (const app of ['ads', 'adh', 'ats', 'shop'])
    it(`adds to the root of ${app} one process id and one start time`, () => {
      const catalogue = loadCatalogues().get(app);
      const plan = catalogue === undefined ? planPlainTree(20) : planTree(catalogue, 60);
      const rootOf = (planned: typeof plan) => {
        const tree = new ServedTree();
        new LiveTree(tree, `h.1.${app}`, planned, new Random(1));
        const [root] = tree.roots;
        if (root === undefined) throw new Error('no root');
        return { className: root.className, variables: [...root.variables] };
      };
      const before = rootOf(plan);
      const after = rootOf(withRunFacts(plan, 4711, new Date('2026-01-05T08:00:00Z')));
      const facts = ['processID', 'time'];
      const others = ({ variables }: typeof before) =>
        variables.map(({ name }) => name).filter((name) => !facts.includes(name));
      expect(after.className).to.equal(before.className);
      expect(others(after)).to.deep.equal(others(before));
      expect(
        after.variables
          .filter(({ name }) => facts.includes(name))
          .map(({ name, value }) => [name, value]),
      ).to.deep.equal([
        ['processID', 4711n],
        ['time', 'Mon Jan  5 08:00:00 2026'],
      ]);
    });
});

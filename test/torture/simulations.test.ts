// Random simulations of targets and publishers. `npm run torture` runs them with other seeds.
import { expect } from 'chai';
import { runSimulation } from './model/simulation.js';

const SEEDS_PER_TEST = 100;

describe('a simulated service shows the state of its publishers', () => {
  for (let first = 1; first <= 4 * SEEDS_PER_TEST; first += SEEDS_PER_TEST)
    it(`for ${SEEDS_PER_TEST} seeds from ${first} on`, () => {
      let pages = 0;
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed++) {
        const { wrong, pages: checked } = runSimulation(seed);
        pages += checked;
        expect(wrong, `npm run torture -- --only simulations/${seed}`).to.deep.equal([]);
      }
      expect(pages).to.be.above(500);
    }).timeout(300_000);
});

// Random simulations of targets and publishers. Half of the seeds are new in each run.
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { runSimulation } from './model/simulation.js';

const SEEDS_PER_TEST = 40;

describe('a simulated service shows the state of its publishers', () => {
  const random = randomInt(1000, 2 ** 31);
  for (const first of [1, 1 + SEEDS_PER_TEST, random, random + SEEDS_PER_TEST])
    it(`for ${SEEDS_PER_TEST} seeds from ${first} on`, () => {
      let pages = 0;
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed++) {
        const { wrong, pages: checked } = runSimulation(seed);
        pages += checked;
        expect(wrong, `to repeat: npm run torture -- --only simulations/${seed}`).to.deep.equal([]);
      }
      expect(pages).to.be.above(5 * SEEDS_PER_TEST);
    }).timeout(300_000);
});

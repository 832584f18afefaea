// Damages files of real libraries, and checks that no page has a value under a wrong name.
import { expect } from 'chai';
import { Random } from '#app/simulator/course.js';
import { tryDamage } from './damage-trial.js';

const DAMAGES = 250;

describe('a damaged directory of metric files', function () {
  this.slow(20_000);

  const seeds = { 'a known seed': 1, 'any seed': Date.now() % 1_000_000_000 };
  for (const [name, seed] of Object.entries(seeds))
    it(`of ${name} shows only values that it has, and all values of the other files`, () => {
      const { wrong, right } = tryDamage(new Random(seed), DAMAGES);
      expect(wrong.slice(0, 20), `seed ${seed}`).to.deep.equal([]);
      expect(right).to.be.greaterThan(DAMAGES);
    });
});

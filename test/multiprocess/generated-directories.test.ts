// Compares the pages of generated directories with those of the libraries.
import { expect } from 'chai';
import { METRIC_LIBRARIES, needsLibraries } from '../support/metric-libraries.js';
import { tryDirectories } from './equality-trial.js';

const DIRECTORIES = 150;

describe('a generated directory of metric files', function () {
  this.slow(20_000);
  before(function () {
    needsLibraries(this, ...METRIC_LIBRARIES);
  });

  const seeds = { 'a known seed': 1, 'any seed': 1_000_000 + (Date.now() % 1_000_000_000) };
  for (const [name, seed] of Object.entries(seeds))
    it(`of ${name} has the page that the libraries make of it`, async () => {
      const { wrong, series } = await tryDirectories(seed, DIRECTORIES);
      expect(wrong.slice(0, 20)).to.deep.equal([]);
      expect(series).to.be.greaterThan(DIRECTORIES);
    });
});

// Tests the metrics of real Gunicorn workers that end, are killed, and lose their files.
import { expect } from 'chai';
import { tryGunicorn } from '../multiprocess/gunicorn-trial.js';
import { PYTHON_0_16, PYTHON_0_21, needsLibraries } from '../support/metric-libraries.js';
import { testPrograms } from '../support/processes.js';

describe('an exporter of Gunicorn workers', function () {
  this.slow(30_000);

  for (const library of [PYTHON_0_16, PYTHON_0_21])
    describe(`with ${library.name}`, () => {
      const programs = testPrograms();

      it('has counters that never fall, and that count each request once', async function () {
        needsLibraries(this, library);
        const trial = { seconds: 5, killEveryMs: 1000, removeEveryMs: 300 };
        const { wrong, workers, removedFiles } = await tryGunicorn(programs, library, trial);
        expect(wrong).to.deep.equal([]);
        expect(workers).to.be.greaterThan(4);
        expect(removedFiles).to.be.greaterThan(0);
      });
    });
});

// A component that goes wrong at random, for some seconds: the soak of bench/, kept alive.
import { runClean } from '../support/bench-script.js';

const SECONDS = '12';

describe('a bridged component that lives and goes wrong at random', function () {
  this.timeout(180_000);

  for (const seed of ['1', '2'])
    it(`shows no wrong value and is back in time (seed ${seed})`, () =>
      runClean('bridge-faults.js', SECONDS, seed));
});

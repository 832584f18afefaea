// A short run of bench/soak.js: many targets on many publishers. Spec 1.10.
import { runScript } from '../support/run-script.js';

const SECONDS = '2';
/** Each publisher has four targets. */
const PUBLISHERS = '12';
/** How many ticks old a page may be. Other tests use the machine at the same time. */
const LAG = '40';

describe('48 targets on 12 publishers, with objects that appear and disappear,', function () {
  this.timeout(180_000);

  for (const [mode, assignment] of [
    ['logical', 'hash'],
    ['threaded', 'least_loaded'],
  ] as const)
    it(`serve no wrong value and stay ready in mode ${mode} with assignment ${assignment}`, () =>
      runScript(
        'bench/soak.js',
        ...['--seconds', SECONDS, '--publishers', PUBLISHERS, '--lag', LAG],
        ...['--mode', mode, '--assignment', assignment],
      ));
});

// Many targets on many publishers for some seconds: the soak of bench/, kept alive. Spec 1.10.
import { runClean } from '../support/bench-script.js';

const SECONDS = '4';
/** Ticks that a page may be old: other tests take their share of the machine meanwhile. */
const LAG = '40';

describe('200 targets on 50 publishers, with objects that come and go', function () {
  this.timeout(180_000);

  for (const [mode, assignment] of [
    ['logical', 'hash'],
    ['threaded', 'least_loaded'],
  ] as const)
    it(`serve no wrong value and stay ready: ${mode}, ${assignment}`, () =>
      runClean(
        'soak.js',
        ...['--seconds', SECONDS, '--mode', mode, '--assignment', assignment, '--lag', LAG],
      ));
});

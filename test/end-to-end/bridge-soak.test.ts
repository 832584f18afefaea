// A component that fails at random, for some seconds: a short run of bench/bridge-faults.js.
import { runClean } from '../support/bench-script.js';

const SECONDS = '6';

describe('a bridged component that fails at random', function () {
  this.timeout(180_000);

  it('shows no wrong value and recovers in time', () => runClean('bridge-faults.js', SECONDS, '1'));
});

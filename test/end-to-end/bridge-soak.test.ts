// A short run of test/torture/failing-component.js.
import { runScript } from '../support/run-script.js';

const SECONDS = '6';

describe('a bridged component that fails at random', function () {
  this.timeout(180_000);

  it('has no wrong value on its page and recovers in time', () =>
    runScript('test/torture/failing-component.js', SECONDS, '1'));
});

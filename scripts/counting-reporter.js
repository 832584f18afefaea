// The usual report of each test, those that were tried again, and one last line that counts them.
import Mocha from 'mocha';

export default class CountingReporter extends Mocha.reporters.Spec {
  #retried = [];

  constructor(runner, options) {
    super(runner, options);
    runner.on(Mocha.Runner.constants.EVENT_TEST_RETRY, (test, error) => {
      this.#retried.push(`${test.fullTitle()}: ${error?.message}`);
    });
  }

  epilogue() {
    super.epilogue();
    for (const each of this.#retried) console.log(`Failed at first: ${each}`);
    const { passes, failures, pending } = this.stats;
    const skipped = pending > 0 ? `, ${pending} skipped` : '';
    console.log(`${passes} passed, ${failures} failed${skipped}`);
  }
}

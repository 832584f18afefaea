// Mocha's reporter `spec`, with a summary at the end: the reasons of skipped tests, the name and error of each
// failed test, and a line with the numbers of passed, failed and skipped tests.
import Mocha from 'mocha';

const { EVENT_TEST_FAIL, EVENT_TEST_PENDING } = Mocha.Runner.constants;

/** The first line of a test's error. */
const messageOf = (error) => String(error?.message ?? error).split('\n', 1)[0];
/** The reason in parentheses that `test/support/needs.ts` appends to the title of a skipped test. */
const reasonOf = (test) => /\(([^()]*)\)$/.exec(test.title)?.[1] ?? test.title;

export default class CountingReporter extends Mocha.reporters.Spec {
  #lines = [];
  #skipped = new Map();

  constructor(runner, options) {
    super(runner, options);
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      this.#lines.push(`Failed: ${test.fullTitle()}: ${messageOf(error)}`);
    });
    runner.on(EVENT_TEST_PENDING, (test) => {
      const reason = reasonOf(test);
      this.#skipped.set(reason, (this.#skipped.get(reason) ?? 0) + 1);
    });
  }

  epilogue() {
    super.epilogue();
    for (const [reason, count] of this.#skipped) console.log(`Skipped ${count}: ${reason}`);
    for (const line of this.#lines) console.log(line);
    const { passes, failures, pending } = this.stats;
    const skipped = pending > 0 ? `, ${pending} skipped` : '';
    console.log(`${passes} passed, ${failures} failed${skipped}`);
  }
}

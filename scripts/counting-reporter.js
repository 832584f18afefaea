// The usual report of each test, and one last line that counts them.
import Mocha from 'mocha';

export default class CountingReporter extends Mocha.reporters.Spec {
  epilogue() {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const skipped = pending > 0 ? `, ${pending} skipped` : '';
    console.log(`${passes} passed, ${failures} failed${skipped}`);
  }
}

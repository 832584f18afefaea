// Ties tests to a row of the specification, so that test/specification/README.md lists them beside it.
import { titleOf } from './rows.js';

/** A suite that shows the row of that number, or each of these; a row may have several suites, anywhere. */
export function shows(
  numbers: string | readonly [string, ...string[]],
  tests: (this: Mocha.Suite) => void,
): void {
  const [number, next, ...more] = typeof numbers === 'string' ? [numbers] : numbers;
  describe(titleOf(number), next === undefined ? tests : () => shows([next, ...more], tests));
}

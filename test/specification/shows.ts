// Ties tests to a row of the specification, so that test/specification/README.md lists them beside it.
import { titleOf } from './rows.js';

/** Defines a suite that tests one or several rows of the specification; a row may have suites in several files. */
export function shows(
  numbers: string | readonly [string, ...string[]],
  tests: (this: Mocha.Suite) => void,
): void {
  const [number, next, ...more] = typeof numbers === 'string' ? [numbers] : numbers;
  // The colon separates the sentence of the specification from the title of the test.
  describe(`${titleOf(number)}:`, next === undefined ? tests : () => shows([next, ...more], tests));
}

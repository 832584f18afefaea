// Ties tests to rows of the specification, so that test/specification/README.md lists them beside each row.
import { citationOf } from './rows.js';

/** The numbers of the rows that a suite tests. */
export const ROWS_OF_SUITES = new WeakMap<object, readonly string[]>();

/** Defines a suite that tests one or several rows of the specification; a row may have suites in several files. */
export function shows(
  rows: string | readonly [string, ...string[]],
  tests: (this: Mocha.Suite) => void,
): void {
  const numbers: readonly [string, ...string[]] = typeof rows === 'string' ? [rows] : rows;
  // The colon separates the citation from the title of the test.
  ROWS_OF_SUITES.set(describe(`${citationOf(numbers)}:`, tests), numbers);
}

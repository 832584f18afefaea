// Links tests to rows of the specification, so that test/specification/README.md lists them beside each row.
import { citationOf } from './rows.js';

/** The numbers of the rows that each suite tests. */
export const ROWS_OF_SUITES = new WeakMap<object, readonly string[]>();

/**
 * Defines a suite that tests one or more rows of the specification. Several suites, in any file, may test the
 * same row.
 */
export function shows(
  rows: string | readonly [string, ...string[]],
  tests: (this: Mocha.Suite) => void,
): void {
  const numbers: readonly [string, ...string[]] = typeof rows === 'string' ? [rows] : rows;
  // The colon separates the citation from the title of the test.
  ROWS_OF_SUITES.set(describe(`${citationOf(numbers)}:`, tests), numbers);
}

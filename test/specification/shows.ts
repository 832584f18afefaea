// Ties tests to a row of the specification: docs/specification.md lists them beside it.
import { titleOf } from './rows.js';

/** A suite that shows the row of that number; it may stand anywhere, and a row may have several. */
export function shows(number: string, tests: (this: Mocha.Suite) => void): void {
  describe(titleOf(number), tests);
}

// Names that are unique to this test run. `scripts/test.js` uses them to find the segments that the run
// left behind.
import { randomBytes } from 'node:crypto';
import { pid } from 'node:process';

/** A word that is part of the name of every segment of this run. */
export const TEST_RUN = process.env['TEST_RUN'] ?? randomBytes(4).toString('hex');

let count = 0;

/** Returns a name that no other call, process or run returns. */
export const uniqueName = (): string => `test_${TEST_RUN}_${pid}_${++count}`;

// One temporary folder for all tests of a suite, gone afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A path in it; only while the suite runs, for a file of tests is also loaded to list their names. */
export type SuiteFolder = (...names: readonly string[]) => string;

export function suiteFolder(prefix: string): SuiteFolder {
  let folder: string | undefined;
  before(() => (folder = mkdtempSync(join(tmpdir(), prefix))));
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  return (...names) => {
    if (folder === undefined)
      throw new Error(`The folder ${prefix} is there only during the suite.`);
    return join(folder, ...names);
  };
}

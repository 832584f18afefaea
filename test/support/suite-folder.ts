// One temporary folder for all tests of a suite, removed afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns a function that returns paths in the folder. The folder exists only while the suite runs: mocha
 * also loads test files just to list their tests, and must then create no folder.
 */
export type SuiteFolder = (...names: readonly string[]) => string;

export function suiteFolder(prefix: string): SuiteFolder {
  let folder: string | undefined;
  before(() => (folder = mkdtempSync(join(tmpdir(), prefix))));
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  return (...names) => {
    if (folder === undefined)
      throw new Error(`The folder ${prefix} exists only while the suite runs.`);
    return join(folder, ...names);
  };
}

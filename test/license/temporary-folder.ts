// A fresh folder for each test of a suite, removed after it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Call inside `describe`; gives the path of a name in the folder of the running test. */
export function temporaryFolder(): (name: string) => string {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'shm-license-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  return (name) => join(folder, name);
}

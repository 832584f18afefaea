// A new folder for each test, removed afterwards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Call inside `describe`: gives each test a folder. `write` puts a file into it and returns the file's path.
 */
export function temporaryFolder() {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'shm-config-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  return {
    /** Removes the path of the folder from a message. */
    bare: (message: string) => message.replaceAll(`${folder}/`, ''),
    path: (name = '') => join(folder, name),
    write(name: string, content: string | Uint8Array): string {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
  };
}

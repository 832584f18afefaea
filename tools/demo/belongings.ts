// What a demo leaves on the machine while it runs: a temporary folder, and segments of its own context.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SHM_FOLDER } from '#app/native/os/readable-file.js';

export class Belongings {
  readonly folder = mkdtempSync(join(tmpdir(), 'shm-demo-'));
  /** As unique as the folder, so that demos never share segments. */
  readonly contextId = basename(this.folder);

  /** Writes a file into the folder and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** Removes everything, also the segments of publishers that were killed. */
  remove(): void {
    const isOurs = (name: string): boolean =>
      name.startsWith(`${this.contextId}.`) || name.startsWith(`.${this.contextId}.`);
    for (const name of readdirSync(SHM_FOLDER).filter(isOurs))
      rmSync(join(SHM_FOLDER, name), { force: true });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

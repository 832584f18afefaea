// The C publisher: its version in the file for pkg-config, and copies where compilers look for them.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER = 'sdk/c/shm_publisher.h';
const PC = 'sdk/c/shm_publisher.pc';

/** Writes the version of the release into the file for pkg-config of a folder that has `sdk`. */
export function stateVersion(target, { version }) {
  const text = readFileSync(join(target, PC), 'utf8');
  writeFileSync(join(target, PC), text.replace(/^Version: .*$/m, `Version: ${version}`));
}

/** Copies header and file into `include` and `share/pkgconfig`, below which a prefix is looked at. */
export function placeCPublisher(target) {
  for (const [file, folder] of [
    [HEADER, 'include'],
    [PC, 'share/pkgconfig'],
  ]) {
    mkdirSync(join(target, folder), { recursive: true });
    cpSync(join(target, file), join(target, folder, file.replace(/.*\//, '')));
  }
}

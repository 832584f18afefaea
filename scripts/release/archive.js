// Makes reproducible archives: the same content gives the same bytes, with sorted names, one timestamp and no
// owners.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  lutimesSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run } from './run.js';

const EXECUTABLE = 0o111;

/**
 * Gives all files below a folder the timestamp of the release, and modes that do not depend on the umask. Native
 * modules are not executable.
 */
export function settle(folder, { epoch }) {
  const all = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  for (const path of [...all, folder]) {
    const stats = lstatSync(path);
    const isProgram = (stats.mode & EXECUTABLE) !== 0 && !path.endsWith('.node');
    const isOpen = stats.isDirectory() || isProgram;
    if (!stats.isSymbolicLink()) chmodSync(path, isOpen ? 0o755 : 0o644);
    lutimesSync(path, epoch, epoch);
  }
}

/** Packs a folder. The paths in the archive begin with the folder's name. */
export function tarball(folder, file) {
  const tar = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
  const where = ['-C', dirname(folder), basename(folder)];
  run('sh', ['-c', 'tar "$@" | gzip -n -6 > "$0"', file, ...tar, '-c', ...where]);
}

/** Writes `<file>.sha256` in the format of `sha256sum -c`. Returns the hash. */
export function writeChecksum(file) {
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  writeFileSync(`${file}.sha256`, `${sum}  ${basename(file)}\n`);
  return sum;
}

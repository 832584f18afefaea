// Prepares the C publisher in a release: sets its version for pkg-config, and copies its files to the folders where
// compilers look.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADERS = ['shm_publisher.h', 'shm_updates.h', 'shm_metrics.h', 'shm_publisher.hpp'].map(
  (name) => `sdk/c/${name}`,
);
const PC = 'sdk/c/shm_publisher.pc';

/** Writes the version of the release into the pkg-config file in `target`. */
export function stateVersion(target, { version }) {
  const text = readFileSync(join(target, PC), 'utf8');
  writeFileSync(join(target, PC), text.replace(/^Version: .*$/m, `Version: ${version}`));
}

/**
 * Copies the headers into `include` and the pkg-config file into `share/pkgconfig`, the usual folders below a
 * prefix.
 */
export function placeCPublisher(target) {
  for (const [file, folder] of [
    ...HEADERS.map((header) => [header, 'include']),
    [PC, 'share/pkgconfig'],
  ]) {
    mkdirSync(join(target, folder), { recursive: true });
    cpSync(join(target, file), join(target, folder, file.replace(/.*\//, '')));
  }
}

// Selects the files of the project's folders that a release contains.
import { basename, extname } from 'node:path';

/** The sources of the publisher's npm package, which has a release of its own. */
const OF_PUBLISHER = 'sdk/typescript';

/** Folders that builds and tests create beside the sources. */
const LEFTOVERS = new Set(['build', '__pycache__']);

export function isShipped(path) {
  const name = basename(path);
  return (
    path !== OF_PUBLISHER &&
    !name.startsWith('.') &&
    extname(name) !== '.tsbuildinfo' &&
    !LEFTOVERS.has(name)
  );
}

// Which files of the project's folders a release holds.
import { basename, extname } from 'node:path';

/** What builds and tests leave beside the sources. */
const LEFTOVERS = new Set(['build', '__pycache__']);

export function isShipped(path) {
  const name = basename(path);
  return !name.startsWith('.') && extname(name) !== '.tsbuildinfo' && !LEFTOVERS.has(name);
}

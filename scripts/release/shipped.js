// Selects the files of the project's folders that a release contains.
import { basename, extname } from 'node:path';

/** Folders that builds and tests create beside the sources. */
const LEFTOVERS = new Set(['build', '__pycache__']);

export function isShipped(path) {
  const name = basename(path);
  return !name.startsWith('.') && extname(name) !== '.tsbuildinfo' && !LEFTOVERS.has(name);
}

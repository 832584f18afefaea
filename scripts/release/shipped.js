// Which files of the project's folders a release holds.
import { basename, extname } from 'node:path';

/** What builds and tests leave beside the sources. */
const LEFTOVERS = new Set(['build', '__pycache__']);
/** What is of use to this build alone, or to the Node.js that made it. */
const OWN = ['.tsbuildinfo', '.cache'];

export function isShipped(path) {
  const name = basename(path);
  return !name.startsWith('.') && !OWN.includes(extname(name)) && !LEFTOVERS.has(name);
}

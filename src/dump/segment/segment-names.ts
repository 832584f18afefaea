// The segments that exist in shared memory, for somebody who looks for one that does not.
import { closeSync, constants, openSync, readSync, readdirSync } from 'node:fs';
import { nearest } from '../../document/nearest.js';
import { Fault } from '../../errors.js';
import { SHM_FOLDER } from '../../native/os/readable-file.js';
import { MAGIC } from '../../native/segment/layout.js';
import { nameText } from '../../shown/shown-text.js';

/** The most that a message names. */
const MAX_NAMES = 20;
/** Names of other programs' files do not have this form mostly: context id, pool name, server key. */
const FORM = /^[^.][^.]*\..*\../;

/** Why there is nothing to show under this name, and what there is. */
export function absence(name: string): Fault {
  const names = segmentNames();
  const near = nearest(name, names);
  const guess = near === undefined ? '' : `, did you mean ${nameText(near)}?`;
  return new Fault('NATIVE_FAILED', `no segment ${name} in ${SHM_FOLDER}${guess} ${listed(names)}`);
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return '(there is none)';
  const more = names.length - MAX_NAMES;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `(there are: ${names.slice(0, MAX_NAMES).map(nameText).join(', ')}${rest})`;
}

/** Names of segments, whoever publishes them; without those that may not be read. */
const segmentNames = (): readonly string[] =>
  readdirSync(SHM_FOLDER)
    .filter((name) => FORM.test(name) && isSegment(`${SHM_FOLDER}/${name}`))
    .sort();

function isSegment(path: string): boolean {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(MAGIC.length);
    try {
      return readSync(fd, bytes) === MAGIC.length && bytes.equals(MAGIC);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

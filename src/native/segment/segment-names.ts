// Lists the segments in shared memory, for messages about one that is missing.
import { closeSync, constants, openSync, readSync, readdirSync } from 'node:fs';
import { isSystemError } from '../../errors.js';
import { SHM_FOLDER } from '../os/readable-file.js';
import { MAGIC } from './layout.js';

/** Names of other programs' files do not have this form mostly: context id, pool name, server key. */
const FORM = /^[^.][^.]*\..*\../;

/** The names of all segments that this process may read; none if it may not list the folder. */
export function segmentNames(folder = SHM_FOLDER): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FORM.test(name) && isSegment(`${folder}/${name}`))
      .sort();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return [];
  }
}

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

// Removes the segments that killed processes left behind under server keys with their pids.
import { closeSync, constants, existsSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import * as os from '#publisher-os';
import type { PublisherOs } from '../os/publisher-os.js';
import { SHM_FOLDER } from '../os/shared-memory.js';
import { identityOf, pidOf } from './publisher-file.js';

const { replaceMappings, tryLock }: PublisherOs = os;
const { O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const { pid: ownPid } = process;

/** The maximum number of segments that one call tries to remove. */
const MAX_DEAD = 1024;

/** The name of a temporary file, from which `PublisherFile` renames a segment. */
const TEMPORARY = /^\.(.+)\.\d+\.[\da-f]{8}\.tmp$/;

/**
 * Removes dead segments and their temporary files if their names differ only in the pid, or in the pid and the id of a
 * worker thread. The pid in a name must be that of the segment's publisher, and the lock of the segment must be free.
 * If another process has this pid now, as in a restarted container, the segment stays: that process may be about to
 * replace the segment, and would find it locked. Readers keep a removed segment open.
 * @param template the name of a segment, with `{pid}` at most once, for these numbers; without it, nothing is removed
 */
export function removeDeadSegments(template: string): void {
  if (!template.includes('{pid}')) return;
  const source = template.replaceAll('.', '\\.').replace('{pid}', '(?<pid>\\d+)(?:\\.\\d+)?');
  const pattern = new RegExp(`^${source}$`);
  for (const { file, pid } of filesOf(pattern).slice(0, MAX_DEAD))
    removeIfDead(`${SHM_FOLDER}/${file}`, pid);
}

/** The files in /dev/shm that a pattern matches, with the pids in their names; none if the folder cannot be read. */
function filesOf(pattern: RegExp): { readonly file: string; readonly pid: bigint }[] {
  try {
    return readdirSync(SHM_FOLDER).flatMap((file) => {
      const pid = pattern.exec(file.replace(TEMPORARY, '$1'))?.groups?.['pid'];
      return pid === undefined ? [] : [{ file, pid: BigInt(pid) }];
    });
  } catch {
    return [];
  }
}

function removeIfDead(path: string, pid: bigint): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (pidOf(fd) !== pid || isOtherProcess(pid)) return;
    // A live publisher, also the one that calls this, holds its lock.
    if (!tryLock(fd) || identityOf(fd) !== identityOf(path)) return;
    replaceMappings(fd);
    unlinkSync(path);
  } catch {
    // The file belongs to another user, or is gone.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Whether another process of this PID namespace has this pid. */
const isOtherProcess = (pid: bigint): boolean =>
  pid !== BigInt(ownPid) && existsSync(`/proc/${pid}`);

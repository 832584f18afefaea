// Whether a process is the JVM that wrote a counter file.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { startedUnixMs } from '../foreign/process-start.js';

/** A JVM notes its begin soon after its process starts; beyond this, another one may have its number. */
const MAX_EARLY_MS = 10_000;
const MAPS_BYTES = 2 ** 22;

export interface Writer {
  readonly pid: number;
  readonly startTicks: number;
  /** The user and the inode of the file. */
  readonly uid: number;
  readonly inode: bigint;
  /** When the JVM says that it began, in Unix milliseconds; undefined if it does not. */
  readonly beganUnixMs: number | undefined;
}

/**
 * Why a process cannot have written a counter file; undefined if it can. A file outlives a JVM that was
 * killed, and its number is used again.
 */
export function whyNotWriter(writer: Writer, proc = '/proc'): string | undefined {
  const { pid, startTicks, uid, inode, beganUnixMs } = writer;
  if (!usersOf(`${proc}/${pid}/status`).includes(uid)) return `process ${pid} is of another user`;
  const latestMs = (beganUnixMs ?? NaN) + MAX_EARLY_MS;
  if (!(startedUnixMs(startTicks, proc) > latestMs)) return undefined;
  // The clock may have been set meanwhile, so this alone proves nothing.
  return hasMapped(`${proc}/${pid}/maps`, inode) ? undefined : `process ${pid} started later`;
}

/** Real, effective and saved: its folder in /proc is root's if the process may not be looked into. proc(5). */
function usersOf(status: string): readonly number[] {
  try {
    const [, line = ''] = /^Uid:\t(.*)$/m.exec(readFileSync(status, 'latin1')) ?? [];
    return line.split('\t').map(Number);
  } catch {
    return [];
  }
}

/** Whether a process has a counter file of this inode in its memory; false if nobody may look. */
function hasMapped(path: string, inode: bigint): boolean {
  const bytes = Buffer.alloc(65_536);
  const wanted = ` ${inode} `;
  try {
    const fd = openSync(path, 'r');
    try {
      let rest = '';
      for (let total = 0; total < MAPS_BYTES;) {
        const read = readSync(fd, bytes);
        if (read === 0) return false;
        total += read;
        const lines = `${rest}${bytes.toString('latin1', 0, read)}`.split('\n');
        rest = lines.pop() ?? '';
        if (lines.some((line) => line.includes(wanted) && line.includes('hsperfdata_')))
          return true;
      }
      return false;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

// Reads information about processes from /proc: their PIDs, start times and memory maps. proc(5).
import { closeSync, openSync, readFileSync, readSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { namesIn } from './directory-listing.js';

/** Clock ticks per second in /proc (USER_HZ), the same on every Linux. */
const TICKS_A_SECOND = 100;
/** The maximum number of bytes to read of a process's memory maps. */
const MAPS_BYTES = 2 ** 22;
/** For one process, the maximum number of threads whose memory maps are read. */
const MAX_THREADS = 64;

/** The text of a file in /proc; empty if it cannot be read. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** The text of a link in /proc, such as `ns/pid`; undefined if it cannot be read. */
export function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * The start time of a process, in clock ticks since boot; undefined if no such process runs. The state in /proc is the
 * state of the main thread, which may have ended (Z) while other threads still run.
 */
export function startTicksOf(pid: number, proc = '/proc'): number | undefined {
  const [state, ...fields] = statFieldsOf(pid, proc);
  if (state === undefined) return undefined;
  const [threads, startTicks] = [fields[16], fields[18]].map(Number);
  if (state === 'X' || (state === 'Z' && !(Number(threads) > 1))) return undefined;
  return startTicks;
}

/** The fields of /proc/PID/stat from the state on; empty if no such process exists. */
function statFieldsOf(pid: number, proc: string): readonly string[] {
  const stat = textOf(`${proc}/${pid}/stat`);
  // The program's name comes first and may contain blanks and parentheses.
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Converts a start time in clock ticks since boot to Unix milliseconds. */
export function startedUnixMs(startTicks: number, proc = '/proc'): number {
  const [, boot] = /^btime (\d+)$/m.exec(textOf(`${proc}/stat`)) ?? [];
  // With the mount option subset=pid, /proc has no boot time.
  const bootMs = boot === undefined ? new Date().getTime() - uptime() * 1000 : Number(boot) * 1000;
  return bootMs + (startTicks * 1000) / TICKS_A_SECOND;
}

/** Tolerance for adjustments of the clock. */
const MAX_EARLY_MS = 10_000;

/** Whether a PID was reused: its process started after `recordedMs`, the Unix time that a former process recorded. */
export const hasReusedPid = (startTicks: number, recordedMs: number, proc = '/proc'): boolean =>
  startedUnixMs(startTicks, proc) > recordedMs + MAX_EARLY_MS;

/** The size of a page of memory on x86-64. */
const PAGE_BYTES = 4096;

/** What a process uses. */
export interface ProcessUsage {
  readonly virtualBytes: number;
  readonly residentBytes: number;
  /** Processor time in user and system mode. */
  readonly cpuSeconds: number;
  readonly threads: number;
}

/** What a process uses; undefined if no such process runs. */
export function processUsage(pid: number, proc = '/proc'): ProcessUsage | undefined {
  const fields = statFieldsOf(pid, proc).map(Number);
  const [user = NaN, system = NaN, threads = NaN] = [fields[11], fields[12], fields[17]];
  const [virtualBytes = NaN, pages = NaN] = fields.slice(20);
  if (Number.isNaN(pages)) return undefined;
  return {
    ...{ virtualBytes, threads },
    residentBytes: pages * PAGE_BYTES,
    cpuSeconds: (user + system) / TICKS_A_SECOND,
  };
}

/** The number of files that a process may open; 0 if it is unknown. By default, that of this process. */
export function maxDescriptors(pid: number | 'self' = 'self', proc = '/proc'): number {
  const [, max = ''] = /^Max open files +(\d+)/m.exec(textOf(`${proc}/${pid}/limits`)) ?? [];
  return Number(max);
}

/** The mount option of /proc that hides processes of other users; undefined if /proc hides no processes. */
export function hidingOption(proc = '/proc'): string | undefined {
  // Every PID namespace has a process 1. It is hidden whenever any process is hidden.
  if (startTicksOf(1, proc) !== undefined) return undefined;
  return optionIn(textOf(`${proc}/self/mountinfo`), proc) ?? 'a mount option';
}

function optionIn(mounts: string, proc: string): string | undefined {
  const lines = mounts.split('\n').filter((line) => line.split(' ')[4] === proc);
  return /\bhidepid=\w+/.exec(lines.at(-1) ?? '')?.[0];
}

/** An answer. `perhaps`: this user may not read the evidence, and no other evidence says `no`. */
export type Certainty = 'yes' | 'perhaps' | 'no';

export interface MappedFile {
  /** The device as in /proc/PID/maps; undefined on file systems where stat(2) may report a different device. */
  readonly device: string | undefined;
  readonly inode: bigint;
}

/**
 * The PID of the process that holds a write lock on a file, by flock(2) or fcntl(2); undefined if no process of this
 * PID namespace holds such a lock.
 * @param locks the text of /proc/locks
 */
export function lockHolderOf(locks: string, { device, inode }: MappedFile): number | undefined {
  for (const [, holder, its, number] of locks.matchAll(
    /^\d+: (?:FLOCK|POSIX) +ADVISORY +WRITE (\d+) (\w+:\w+):(\d+) /gm,
  ))
    if (number === String(inode) && (device === undefined || device === its)) return Number(holder);
  return undefined;
}

/** The PID of a process in its innermost PID namespace. @param status the text of /proc/PID/status */
export const innermostPidOf = (status: string): string | undefined =>
  /^NSpid:.*?(\d+)$/m.exec(status)?.[1];

/**
 * Whether a process has mapped a file. If the main thread has ended, its maps are empty, so the maps of other threads
 * are read.
 * @param path the directory of the process in /proc
 * @param pathPart text that the line of the file must contain
 */
export function hasMapped(path: string, file: MappedFile, pathPart = ''): Certainty {
  try {
    const answer = hasInMaps(`${path}/maps`, file, pathPart);
    if (answer !== undefined) return answer;
    for (const thread of namesIn(`${path}/task`).slice(0, MAX_THREADS)) {
      const its = hasInMaps(`${path}/task/${thread}/maps`, file, pathPart);
      if (its !== undefined) return its;
    }
    return 'no';
  } catch {
    return 'perhaps';
  }
}

/** Whether a maps file lists a file; undefined if the maps file is empty. @throws Error if this user may not read it */
function hasInMaps(
  path: string,
  { device, inode }: MappedFile,
  pathPart: string,
): Certainty | undefined {
  const bytes = Buffer.alloc(65_536);
  const wanted = ` ${inode} `;
  const isIt = (line: string): boolean =>
    line.includes(wanted) &&
    line.includes(pathPart) &&
    (device === undefined || line.includes(` ${device} `));
  const fd = openSync(path, 'r');
  try {
    let rest = '';
    for (let total = 0; total < MAPS_BYTES;) {
      const read = readSync(fd, bytes);
      if (read === 0) return total === 0 ? undefined : 'no';
      total += read;
      const lines = `${rest}${bytes.toString('latin1', 0, read)}`.split('\n');
      rest = lines.pop() ?? '';
      if (lines.some(isIt)) return 'yes';
    }
    return 'perhaps';
  } finally {
    closeSync(fd);
  }
}

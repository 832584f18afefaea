// Facts about processes from /proc: their PIDs, start times and memory maps. proc(5).
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { uptime } from 'node:os';
import { namesIn } from './directory-listing.js';

/** Clock ticks per second in /proc: the same on every Linux. */
const TICKS_A_SECOND = 100;
/** Most bytes that are read of the maps of a process. */
const MAPS_BYTES = 2 ** 22;
/** Most threads of a process whose maps are read. */
const MAX_THREADS = 64;

/** The text of a file in /proc; empty where it cannot be read. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/**
 * When a process started, in clock ticks since the boot; undefined if no such process runs. The state in
 * /proc is that of the main thread, which may end (Z) while other threads run on.
 */
export function startTicksOf(pid: number, proc = '/proc'): number | undefined {
  const stat = textOf(`${proc}/${pid}/stat`);
  if (stat === '') return undefined;
  // The name of the program comes first and may hold anything; the state follows.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [threads, startTicks] = [fields[16], fields[18]].map(Number);
  if (state === 'X' || (state === 'Z' && !(Number(threads) > 1))) return undefined;
  return startTicks;
}

/** The same in Unix milliseconds, by the present clock. */
export function startedUnixMs(startTicks: number, proc = '/proc'): number {
  const [, boot] = /^btime (\d+)$/m.exec(textOf(`${proc}/stat`)) ?? [];
  // A /proc with the option subset=pid has processes, but not the time of the boot.
  const bootMs = boot === undefined ? new Date().getTime() - uptime() * 1000 : Number(boot) * 1000;
  return bootMs + (startTicks * 1000) / TICKS_A_SECOND;
}

/** The mount option by which /proc hides processes of other users from this one; undefined if it hides none. */
export function hidingOption(proc = '/proc'): string | undefined {
  // Every PID namespace has a process 1. /proc hides it from every user from whom it hides any process.
  if (startTicksOf(1, proc) !== undefined) return undefined;
  return optionIn(textOf(`${proc}/self/mountinfo`), proc) ?? 'an option of its mount';
}

function optionIn(mounts: string, proc: string): string | undefined {
  const lines = mounts.split('\n').filter((line) => line.split(' ')[4] === proc);
  return /\bhidepid=\w+/.exec(lines.at(-1) ?? '')?.[0];
}

/** `perhaps`: this user may not read the facts, and nothing contradicts a yes. */
export type Certainty = 'yes' | 'perhaps' | 'no';

export interface MappedFile {
  /** The device as /proc/PID/maps has it; undefined where that may differ from the one of stat(2). */
  readonly device: string | undefined;
  readonly inode: bigint;
}

/**
 * The PID of the process that locks a file by flock(2) or fcntl(2), as JVMs and Varnish do; undefined if none of this
 * PID namespace does.
 * @param locks the text of /proc/locks
 */
export function lockHolderOf(locks: string, { device, inode }: MappedFile): number | undefined {
  for (const [, holder, its, number] of locks.matchAll(
    /^\d+: (?:FLOCK|POSIX) +ADVISORY +WRITE (\d+) (\w+:\w+):(\d+) /gm,
  ))
    if (number === String(inode) && (device === undefined || device === its)) return Number(holder);
  return undefined;
}

/** The PID of a process in the innermost of its PID namespaces, from the text of its `status`. */
export const innermostPidOf = (status: string): string | undefined =>
  /^NSpid:.*?(\d+)$/m.exec(status)?.[1];

/**
 * Whether a process has a file mapped. A main thread that ended has no maps; those of the other threads are
 * read then.
 * @param path the folder of the process in /proc
 * @param word a part of the path of the file, as the process sees it
 */
export function hasMapped(path: string, file: MappedFile, word = ''): Certainty {
  try {
    const answer = hasInMaps(`${path}/maps`, file, word);
    if (answer !== undefined) return answer;
    for (const thread of namesIn(`${path}/task`).slice(0, MAX_THREADS)) {
      const its = hasInMaps(`${path}/task/${thread}/maps`, file, word);
      if (its !== undefined) return its;
    }
    return 'no';
  } catch {
    return 'perhaps';
  }
}

/** Whether maps have a file; undefined if they are empty. @throws Error if this user may not read them */
function hasInMaps(
  path: string,
  { device, inode }: MappedFile,
  word: string,
): Certainty | undefined {
  const bytes = Buffer.alloc(65_536);
  const wanted = ` ${inode} `;
  const isIt = (line: string): boolean =>
    line.includes(wanted) &&
    line.includes(word) &&
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

// Whether a process is the JVM that keeps a counter file.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { namesIn } from '../foreign/listing.js';
import { startedUnixMs } from '../foreign/process-start.js';

/** A JVM notes its begin soon after its process starts; beyond this, another one may have its number. */
const MAX_EARLY_MS = 10_000;
const MAPS_BYTES = 2 ** 22;
/** The most threads that are asked for the memory of their process. */
const MAX_THREADS = 64;

export interface Writer {
  readonly pid: number;
  /** The name of the file: the number that the process has in its own PID namespace. */
  readonly name: string;
  readonly startTicks: number;
  /** The user, device and inode of the file. */
  readonly uid: number;
  readonly device: string | undefined;
  readonly inode: bigint;
  /** When the JVM says that it began, in Unix milliseconds; undefined if it does not. */
  readonly beganUnixMs: number | undefined;
}

/** Perhaps: nothing speaks against it, and this user may not see what the process has in its memory. */
export type IsWriter = 'yes' | 'perhaps' | 'no';

/**
 * Whether a process is the JVM of a counter file. A JVM has its file in its memory as long as it runs. The
 * number in the name proves little: a file outlives a JVM that was killed, and that of another PID namespace
 * has the number of another process here.
 */
export function isWriter(writer: Writer, proc = '/proc'): IsWriter {
  const { pid, name, startTicks, uid, beganUnixMs } = writer;
  const status = readText(`${proc}/${pid}/status`);
  if (!usersOf(status).includes(uid)) return 'no';
  if ((insideNumberOf(status) ?? name) !== name) return 'no';
  const hasMapped = answerOf(`${proc}/${pid}`, writer);
  if (hasMapped !== 'perhaps') return hasMapped;
  const holder = lockHolderOf(readText(`${proc}/locks`), writer);
  if (holder !== undefined) return holder === pid ? 'yes' : 'no';
  if (/^Threads:\t1$/m.test(status)) return 'no';
  const latestMs = (beganUnixMs ?? NaN) + MAX_EARLY_MS;
  return startedUnixMs(startTicks, proc) > latestMs ? 'no' : 'perhaps';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Real, effective and saved: its folder in /proc is root's if the process may not be looked into. proc(5). */
const usersOf = (status: string): readonly number[] =>
  (/^Uid:\t(.*)$/m.exec(status)?.[1]?.split('\t') ?? []).map(Number);

/** The number of a process in the innermost of its PID namespaces. */
export const insideNumberOf = (status: string): string | undefined =>
  /^NSpid:.*?(\d+)$/m.exec(status)?.[1];

/** The process that holds the lock of a file, as JVMs of later updates do; undefined where none does. */
function lockHolderOf(locks: string, { device, inode }: Writer): number | undefined {
  for (const [, holder, its, number] of locks.matchAll(
    /^\d+: FLOCK +ADVISORY +WRITE (\d+) (\w+:\w+):(\d+) /gm,
  ))
    if (number === String(inode) && (device === undefined || device === its)) return Number(holder);
  return undefined;
}

/** Whether a process has the file in its memory. The first thread has no memory any more once it ended. */
function answerOf(path: string, writer: Writer): IsWriter {
  try {
    const answer = answerOfMaps(`${path}/maps`, writer);
    if (answer !== undefined) return answer;
    for (const thread of namesIn(`${path}/task`).slice(0, MAX_THREADS)) {
      const its = answerOfMaps(`${path}/task/${thread}/maps`, writer);
      if (its !== undefined) return its;
    }
    return 'no';
  } catch {
    return 'perhaps';
  }
}

/** Undefined for no memory at all. @throws Error for memory that this user may not see */
function answerOfMaps(path: string, { device, inode }: Writer): IsWriter | undefined {
  const bytes = Buffer.alloc(65_536);
  const wanted = ` ${inode} `;
  const isIt = (line: string): boolean =>
    line.includes(wanted) &&
    line.includes('hsperfdata_') &&
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

// The process of a JVM: whether it runs, and whether it is the one that wrote a counter file.
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

/** Clock ticks of /proc a second: the same on every Linux. */
const TICKS_A_SECOND = 100;
/** A JVM notes its begin soon after its process starts; beyond this, another one may have its number. */
const MOST_EARLY_MS = 10_000;
const MAPS_BYTES = 2 ** 22;

/** When a process started, in clock ticks since the system did; undefined if there is none that runs. */
export function startTicksOf(pid: number, proc = '/proc'): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`${proc}/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name of the program comes first and may hold anything; the state follows.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return Number(fields[18]);
}

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
  const owner = ownerOf(`${proc}/${pid}`);
  // Root owns the folder of a process that may not be looked into.
  if (owner !== uid && owner !== 0) return `process ${pid} is of another user`;
  const startedUnixMs = bootUnixMs(proc) + (startTicks * 1000) / TICKS_A_SECOND;
  if (beganUnixMs === undefined || !(startedUnixMs > beganUnixMs + MOST_EARLY_MS)) return undefined;
  // The clock may have been set meanwhile, so this alone proves nothing.
  return hasMapped(`${proc}/${pid}/maps`, inode) ? undefined : `process ${pid} started later`;
}

/** When the system started, by its clock as it is now; NaN if it does not say. */
function bootUnixMs(proc: string): number {
  try {
    return Number(/^btime (\d+)$/m.exec(readFileSync(`${proc}/stat`, 'latin1'))?.[1]) * 1000;
  } catch {
    return NaN;
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
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

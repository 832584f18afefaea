// Checks whether a process is the JVM that writes a counter file.
import {
  hasMapped,
  innermostPidOf,
  lockHolderOf,
  startedUnixMs,
  textOf,
} from '../foreign/processes.js';
import type { Certainty } from '../foreign/processes.js';

/** A JVM notes its begin soon after its process starts; beyond this, another one may have its number. */
const MAX_EARLY_MS = 10_000;

export interface Writer {
  readonly pid: number;
  /** The name of the file: the PID of the process in its own PID namespace. */
  readonly name: string;
  readonly startTicks: number;
  /** The user, device and inode of the file. */
  readonly uid: number;
  readonly device: string | undefined;
  readonly inode: bigint;
  /** When the JVM says that it began, in Unix milliseconds; undefined if it does not. */
  readonly beganUnixMs: number | undefined;
}

/**
 * Whether a process is the JVM of a counter file. A JVM has its file mapped as long as it runs. The PID in the
 * name proves little: the file of a killed JVM stays, and a PID of another PID namespace may be that of another
 * process here.
 */
export function isJvmOf(writer: Writer, proc = '/proc'): Certainty {
  const { pid, name, startTicks, uid, beganUnixMs } = writer;
  const status = textOf(`${proc}/${pid}/status`);
  if (!usersOf(status).includes(uid)) return 'no';
  if ((innermostPidOf(status) ?? name) !== name) return 'no';
  const isMapped = hasMapped(`${proc}/${pid}`, writer, 'hsperfdata_');
  if (isMapped !== 'perhaps') return isMapped;
  const holder = lockHolderOf(textOf(`${proc}/locks`), writer);
  if (holder !== undefined) return holder === pid ? 'yes' : 'no';
  if (/^Threads:\t1$/m.test(status)) return 'no';
  const latestMs = (beganUnixMs ?? NaN) + MAX_EARLY_MS;
  return startedUnixMs(startTicks, proc) > latestMs ? 'no' : 'perhaps';
}

/** Real, effective and saved: its folder in /proc is root's if the process may not be looked into. proc(5). */
const usersOf = (status: string): readonly number[] =>
  (/^Uid:\t(.*)$/m.exec(status)?.[1]?.split('\t') ?? []).map(Number);

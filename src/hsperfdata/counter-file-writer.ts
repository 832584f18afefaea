// Checks whether a process is the JVM that writes a counter file.
import {
  hasMapped,
  hasReusedPid,
  innermostPidOf,
  lockHolderOf,
  textOf,
} from '../foreign/processes.js';
import type { Certainty } from '../foreign/processes.js';

export interface Writer {
  readonly pid: number;
  /** The file's name: the PID of the process in its own PID namespace. */
  readonly name: string;
  readonly startTicks: number;
  /** The user, device and inode of the file. */
  readonly uid: number;
  readonly device: string | undefined;
  readonly inode: bigint;
  /** The start time that the JVM recorded, in Unix milliseconds. */
  readonly jvmStartUnixMs: number | undefined;
}

/**
 * Whether a process is the JVM that writes a counter file. A JVM keeps its file mapped as long as it runs. The PID in
 * the file name is not enough: a killed JVM leaves its file, and a PID from another PID namespace may belong to an
 * unrelated process here.
 */
export function isJvmOf(writer: Writer, proc = '/proc'): Certainty {
  const { pid, name, startTicks, uid, jvmStartUnixMs } = writer;
  const status = textOf(`${proc}/${pid}/status`);
  if (!usersOf(status).includes(uid)) return 'no';
  if ((innermostPidOf(status) ?? name) !== name) return 'no';
  const isMapped = hasMapped(`${proc}/${pid}`, writer, 'hsperfdata_');
  if (isMapped !== 'perhaps') return isMapped;
  const holder = lockHolderOf(textOf(`${proc}/locks`), writer);
  if (holder !== undefined) return holder === pid ? 'yes' : 'no';
  if (/^Threads:\t1$/m.test(status)) return 'no';
  const isOther = jvmStartUnixMs !== undefined && hasReusedPid(startTicks, jvmStartUnixMs, proc);
  return isOther ? 'no' : 'perhaps';
}

/** The real, effective, saved and file system UIDs of a process. The owner of /proc/PID may be root instead. proc(5). */
const usersOf = (status: string): readonly number[] =>
  (/^Uid:\t(.*)$/m.exec(status)?.[1]?.split('\t') ?? []).map(Number);

// Stopping other processes for sure. SIGSTOP is taken by one thread of a process: while that waits
// for a processor, the other threads go on.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.js';

/** Stops a process; resolves once each of its threads stands still. */
export async function standStill(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(`process ${pid} stands still`, () => threadStates(pid).every(isStopped));
}

/** Stops processes while something is read. */
export async function whileStill<T>(
  pids: readonly number[],
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    for (const pid of pids) await standStill(pid);
    return await read();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
}

const isStopped = (state: string): boolean => state === 'T';

/** A letter for each thread (proc(5), the third field of stat), but for those that end meanwhile. */
function threadStates(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
      return stat.charAt(stat.lastIndexOf(') ') + 2);
    } catch {
      return [];
    }
  });
}

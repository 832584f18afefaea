// Stops other processes and waits until they have stopped. Only one thread of a process handles SIGSTOP.
// Until that thread gets a processor, the other threads keep running.
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.js';

/** Stops a process; resolves once all of its threads have stopped. */
export async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await eventually(`process ${pid} has stopped`, () => threadStates(pid).every(isStopped));
}

/** Calls `read` while the processes are stopped. */
export async function whileStopped<T>(
  pids: readonly number[],
  read: () => T | Promise<T>,
): Promise<T> {
  try {
    for (const pid of pids) await stopProcess(pid);
    return await read();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
}

const isStopped = (state: string): boolean => state === 'T';

/** The state letter of each thread (proc(5), third field of stat), without threads that end meanwhile. */
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

// Starts a process that has the same PID as a process that has ended.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Root can write a PID to this file. Linux then gives the next higher PID to the next process. */
const LAST_PID = '/proc/sys/kernel/ns_last_pid';
/** More than one attempt is needed, because another process or thread may take the PID first. */
const ATTEMPTS = 50;

/** Starts a process that sleeps for half a minute. Returns undefined if it cannot get the PID. */
export function processWithPid(pid: number): ChildProcess | undefined {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      writeFileSync(LAST_PID, String(pid - 1));
    } catch {
      return undefined;
    }
    const child = spawn('sleep', ['30'], { stdio: 'ignore' });
    if (child.pid === pid) return child;
    child.kill('SIGKILL');
  }
  return undefined;
}

// Another process with the number of one that has ended.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Root says here which number the next process is to follow. */
const LAST_PID = '/proc/sys/kernel/ns_last_pid';
/** Others start processes and threads, too. */
const ATTEMPTS = 50;

/** A process that sleeps for half a minute, or undefined where the number cannot be had. */
export function processNumbered(pid: number): ChildProcess | undefined {
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

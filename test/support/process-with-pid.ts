// Starts a process with the PID of an ended one.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** Root writes the last PID here; the next process gets the one after it. */
const LAST_PID = '/proc/sys/kernel/ns_last_pid';
/** Another process or thread may take the PID first. */
const ATTEMPTS = 50;

/** A process that sleeps for half a minute, or undefined if the PID is not available. */
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

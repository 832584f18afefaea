// Whether /proc hides processes of other users from this one. proc(5).
import { readFileSync } from 'node:fs';
import { startTicksOf } from './process-start.js';

/** The mount option that hides them; undefined if none are hidden. */
export function hidingOption(proc = '/proc'): string | undefined {
  // Every PID namespace has a process 1, and /proc hides it from all that it hides anything from.
  if (startTicksOf(1, proc) !== undefined) return undefined;
  return optionIn(mountsOf(proc), proc) ?? 'an option of its mount';
}

function optionIn(mounts: string, proc: string): string | undefined {
  const lines = mounts.split('\n').filter((line) => line.split(' ')[4] === proc);
  return /\bhidepid=\w+/.exec(lines.at(-1) ?? '')?.[0];
}

function mountsOf(proc: string): string {
  try {
    return readFileSync(`${proc}/self/mountinfo`, 'latin1');
  } catch {
    return '';
  }
}

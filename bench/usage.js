// The memory and processor time of a process, from /proc.
import { readFileSync } from 'node:fs';

/** The unit of times in /proc/PID/stat: clock ticks per second (USER_HZ). */
const HERTZ = 100;

/** Resident memory in MB: private and file pages, pages of segments, and the peak of the total. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { own: mb('RssAnon') + mb('RssFile'), segment: mb('RssShmem'), peak: mb('VmHWM') };
}

/** The processor time used so far, in seconds. */
export function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the name in parentheses, may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / HERTZ;
}

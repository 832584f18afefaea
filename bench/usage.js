// What a process uses, as /proc tells it.
import { readFileSync } from 'node:fs';

/** Clock ticks of the kernel in a second, as it counts them for programs. */
const HERTZ = 100;

/** Resident memory in MB: its own, what it touched of segments, and the most that it ever was. */
export function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { own: mb('RssAnon') + mb('RssFile'), segment: mb('RssShmem'), peak: mb('VmHWM') };
}

/** Processor time so far, in s. */
export function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / HERTZ;
}

// Processes in a fake /proc.
import { mkdirSync, writeFileSync } from 'node:fs';

/** The boot time of the system, in Unix seconds. */
export const BOOT_S = 1_700_000_000;

/**
 * Adds a process to the fake /proc in `proc`.
 *
 * @param startS the start of the process, in seconds since boot
 */
export function writeFakeProcess(proc: string, pid: number, startS: number, name: string): void {
  const own = `${proc}/${pid}`;
  mkdirSync(own, { recursive: true });
  writeFileSync(`${proc}/stat`, `cpu 1 2\nbtime ${BOOT_S}\n`);
  const fields = Array.from({ length: 18 }, (_, index) => index).join(' ');
  writeFileSync(`${own}/stat`, `${pid} (${name}) S ${fields} ${startS * 100} 0\n`);
  writeFileSync(`${own}/comm`, `${name}\n`);
}

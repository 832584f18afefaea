// A process as /proc shows it, in a folder that stands for /proc.
import { mkdirSync, writeFileSync } from 'node:fs';

/** When the system started, in Unix seconds. */
export const BOOT_S = 1_700_000_000;

/** @param startS seconds from the start of the system to that of the process */
export function makeProcess(proc: string, pid: number, startS: number, name: string): void {
  const own = `${proc}/${pid}`;
  mkdirSync(own, { recursive: true });
  writeFileSync(`${proc}/stat`, `cpu 1 2\nbtime ${BOOT_S}\n`);
  const fields = Array.from({ length: 18 }, (_, index) => index).join(' ');
  writeFileSync(`${own}/stat`, `${pid} (${name}) S ${fields} ${startS * 100} 0\n`);
  writeFileSync(`${own}/comm`, `${name}\n`);
}

// When a process started, as /proc has it.
import { readFileSync } from 'node:fs';

/** Clock ticks of /proc a second: the same on every Linux. */
const TICKS_A_SECOND = 100;

/**
 * When a process started, in clock ticks since the system did; undefined if there is none that runs. The
 * state is that of its first thread, which may end (Z) while others run on.
 */
export function startTicksOf(pid: number, proc = '/proc'): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`${proc}/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name of the program comes first and may hold anything; the state follows.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [threads, startTicks] = [fields[16], fields[18]].map(Number);
  if (state === 'X' || (state === 'Z' && !(Number(threads) > 1))) return undefined;
  return startTicks;
}

/** The same in Unix milliseconds, by the clock as it is now; NaN if the system does not say when it started. */
export function startedUnixMs(startTicks: number, proc = '/proc'): number {
  try {
    const boot = /^btime (\d+)$/m.exec(readFileSync(`${proc}/stat`, 'latin1'))?.[1];
    return Number(boot) * 1000 + (startTicks * 1000) / TICKS_A_SECOND;
  } catch {
    return NaN;
  }
}

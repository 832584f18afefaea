// How long other threads kept this one from a processor.
import { openSync, readSync } from 'node:fs';

/** Three numbers of up to 20 digits, with blanks. */
const LINE = Buffer.alloc(64);
const BLANK = 0x20;
const ZERO = 0x30;
const NS_PER_MS = 1e6;

/** Of this thread: each module is loaded once in each. Undefined before it is opened. */
let file: number | undefined;
let isTold = true;

/** Counts the time in which others had the processor. */
export interface DelayClock {
  /** Milliseconds so far. */
  readonly look: () => number;
  /** What the last look told, whoever looked: a look is a call of the system. */
  readonly lastMs: number;
}

/** Of this thread. */
export const runDelay = {
  lastMs: 0,
  look: (): number => (runDelay.lastMs = runDelayMs()),
};

/**
 * Milliseconds since this thread began in which it could have run and others did; always 0 where the
 * kernel does not tell. Source: the second field of /proc/PID/schedstat, in nanoseconds
 * (Documentation/scheduler/sched-stats.rst of Linux).
 */
export function runDelayMs(): number {
  if (!isTold) return 0;
  try {
    file ??= openSync('/proc/thread-self/schedstat', 'r');
    return secondField(readSync(file, LINE, 0, LINE.length, 0)) / NS_PER_MS;
  } catch {
    isTold = false;
    return 0;
  }
}

function secondField(length: number): number {
  let value = 0;
  for (let at = LINE.indexOf(BLANK) + 1; at < length && LINE[at] !== BLANK; at++)
    value = value * 10 + (LINE[at] ?? ZERO) - ZERO;
  return value;
}

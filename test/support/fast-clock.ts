// A clock with which every time budget is spent at once.
import process from 'node:process';

const STEP_NS = 10_000_000n;

/** Calls `use` while 10 ms pass between two reads of the monotonic clock, as in a process that is always preempted. */
export function withFastClock<T>(use: () => T): T {
  const bigint = process.hrtime.bigint.bind(process.hrtime);
  let nowNs = bigint();
  process.hrtime.bigint = () => (nowNs += STEP_NS);
  try {
    return use();
  } finally {
    process.hrtime.bigint = bigint;
  }
}

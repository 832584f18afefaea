// The clock for durations, and the wall clock.

const { hrtime } = process;

const NS_PER_MS = 1e6;

/**
 * The milliseconds since the start of the machine, from CLOCK_MONOTONIC, which never jumps. `performance.now()` is
 * slower: it calls five functions of Node.js.
 */
export const monotonicMs = (): number => Number(hrtime.bigint()) / NS_PER_MS;

/** The wall clock, in Unix milliseconds. */
export const wallClockMs = (): number => Date.now();

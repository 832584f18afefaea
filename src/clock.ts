// The clock for durations.

const { hrtime } = process;

const NS_PER_MS = 1e6;

/**
 * Milliseconds of CLOCK_MONOTONIC, which does not step, since the start of the machine. `performance.now()` is
 * slower: it calls five functions of Node.
 */
export const monotonicMs = (): number => Number(hrtime.bigint()) / NS_PER_MS;

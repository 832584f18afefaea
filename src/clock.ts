// The clock that durations are measured with.
import { hrtime } from 'node:process';

const NS_PER_MS = 1e6;

/**
 * Milliseconds of CLOCK_MONOTONIC, which does not step, since the machine started. `performance.now()` tells
 * such a time too, but calls five functions of Node for it.
 */
export const monotonicMs = (): number => Number(hrtime.bigint()) / NS_PER_MS;

// Keeps the space of V8 for young objects small.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** In bytes. A quarter of it makes collections more frequent than a start can bear. */
const ENOUGH = 7_000_000;

/**
 * Ends the growth of the space, which would go on to 32 MB of garbage: what a program keeps for long
 * is elsewhere here, and the rest dies soon. It costs a start some hundredths of its time.
 */
export function boundYoungSpace(): void {
  const observer = new PerformanceObserver(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (space === undefined || space.space_size < ENOUGH) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}

// Keeps the heap of V8 near what the process needs.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** In bytes. A quarter of it makes collections more frequent than a start can bear. */
const ENOUGH_FOR_YOUNG_OBJECTS = 7_000_000;

/**
 * How much garbage the heap holds before V8 collects it, in percent of what lives there. By itself
 * V8 chooses up to 300, by how fast the program allocates.
 */
const GARBAGE_PERCENT = 50;

/** Bounds both, of this thread and of those that it starts. Call it before the heap grows. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
  boundYoungSpace();
}

/**
 * Ends the growth of the space, which would go on to 32 MB of garbage: what a program keeps for long
 * is elsewhere here, and the rest dies soon. It costs a start some hundredths of its time.
 */
function boundYoungSpace(): void {
  const observer = new PerformanceObserver(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (space === undefined || space.space_size < ENOUGH_FOR_YOUNG_OBJECTS) return;
    setFlagsFromString('--semi-space-growth-factor=1');
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}

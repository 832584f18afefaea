// Keeps the heap of V8, and what malloc holds, near what the process needs.
import { PerformanceObserver } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { returnFreePages, returnFreed } from '../native/os/libc.js';
import { GrowthSince, restWatch } from './at-rest.js';

/** In bytes. A quarter of it makes collections more frequent than a start can bear. */
const ENOUGH_FOR_YOUNG_OBJECTS = 7_000_000;

/**
 * How much garbage the heap holds before V8 collects it, in percent of what lives there. By itself
 * V8 chooses up to 300, by how fast the program allocates.
 */
const GARBAGE_PERCENT = 50;

/** What malloc takes from the system by itself at first, in bytes. */
const LARGE_PIECE = 131_072;

/** By so many bytes the process has grown before it is worth a search for free pages. */
const WORTH_RETURNING = 4_000_000;

/** How often it is looked whether the process still grows, in ms. */
const LOOK_EVERY_MS = 10_000;

/**
 * Bounds the heap of this thread and of those that it starts. Call it before it grows.
 * @param residentBytes of the process; throws where the system does not tell them, such as without /proc
 *   or a free descriptor
 */
export function boundHeapGrowth(residentBytes: () => number): void {
  // To read a program takes pieces of two megabytes: after that, malloc would keep 4 MB more than is used.
  returnFreed(LARGE_PIECE);
  setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
  new PerformanceObserver(boundYoungSpace).observe({ entryTypes: ['gc'] });
  setInterval(savingAtRest(residentBytes), LOOK_EVERY_MS).unref();
}

/**
 * Ends the growth of the space, which would go on to 32 MB of garbage: what a program keeps for long
 * is elsewhere here, and the rest dies soon. It costs a start some hundredths of its time. V8 makes it
 * smaller where little is allocated, and then it may grow again.
 */
function boundYoungSpace(): void {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  if (space === undefined) return;
  const factor = space.space_size < ENOUGH_FOR_YOUNG_OBJECTS ? 2 : 1;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/**
 * Has V8 compact the heap while the process is at rest. Otherwise pages that have a few objects each,
 * of many that came and went, add up to a megabyte a minute (64 targets, bench/soak.js). While a process
 * grows, compacting would only take time: a fifth more until a million series are ready.
 * What the compilers of V8 freed goes back as well: with Node 24, 12 MB after a start.
 */
export function savingAtRest(residentBytes: () => number): () => void {
  const isAtRest = restWatch();
  const growth = new GrowthSince(WORTH_RETURNING);
  return () => {
    const bytes = valueOf(residentBytes);
    const rests = bytes !== undefined && isAtRest(bytes);
    setFlagsFromString(rests ? '--optimize-for-size' : '--no-optimize-for-size');
    if (!rests || !growth.isEnough(bytes)) return;
    returnFreePages();
    growth.begin(valueOf(residentBytes) ?? bytes);
  };
}

/** The result of a call; undefined if it throws. */
function valueOf<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

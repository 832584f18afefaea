// Returns unused memory of malloc to the system.
import { setInterval } from 'node:timers';
import { returnFreePages, returnFreed } from '../native/os/libc.js';

/** malloc maps larger blocks, in bytes, one by one, and unmaps them when they are freed. This is its initial default. */
const LARGE_BLOCK = 131_072;
/** A process is idle if its memory has grown by no more than this factor since the last check. */
const GROWTH = 1.1;
/** Free pages are searched for only if the process has grown by so many bytes since the last search. */
const WORTH_RETURNING = 4_000_000;
const CHECK_MS = 10_000;

/**
 * Returns free memory from now on, as long as the process runs.
 * @param residentBytes returns the resident set size; throws if it cannot be read, such as without /proc or a
 *   free descriptor
 */
export function returnFreeMemory(residentBytes: () => number): void {
  // By default, malloc raises this threshold and so keeps 4 MB more than is used.
  returnFreed(LARGE_BLOCK);
  setInterval(freePages(residentBytes), CHECK_MS).unref();
}

/** Makes a function that returns free pages if the process has grown and is idle now. */
export function freePages(
  residentBytes: () => number,
  give: () => unknown = returnFreePages,
): () => void {
  let [last, afterwards] = [0, 0];
  return () => {
    const bytes = valueOf(residentBytes);
    if (bytes === undefined) return;
    const isIdle = bytes <= last * GROWTH;
    last = bytes;
    if (!isIdle || bytes < afterwards + WORTH_RETURNING) return;
    give();
    afterwards = valueOf(residentBytes) ?? bytes;
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

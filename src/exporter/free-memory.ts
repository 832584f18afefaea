// Returns unused memory of malloc to the system.
import { setInterval } from 'node:timers';
import { returnFreePages, returnFreed } from '../native/os/libc.js';

/** Larger pieces come from the system and go back to it, in bytes: the default of malloc at first. */
const LARGE_PIECE = 131_072;
/** A process that has grown by less since the last check is at rest. */
const GROWTH = 1.1;
/** A search for free pages is worth it if the process has grown by so many bytes since the last one. */
const WORTH_RETURNING = 4_000_000;
const CHECK_MS = 10_000;

/**
 * Returns free memory from now on, as long as the process runs.
 * @param residentBytes of the process; throws where the system does not tell them, such as without /proc
 *   or a free descriptor
 */
export function returnFreeMemory(residentBytes: () => number): void {
  // malloc would raise this by itself, and keep 4 MB more than is used.
  returnFreed(LARGE_PIECE);
  setInterval(freePages(residentBytes), CHECK_MS).unref();
}

/** Makes a function that returns free pages if the process has grown and is at rest now. */
export function freePages(
  residentBytes: () => number,
  give: () => unknown = returnFreePages,
): () => void {
  let [last, afterwards] = [0, 0];
  return () => {
    const bytes = valueOf(residentBytes);
    if (bytes === undefined) return;
    const isAtRest = bytes <= last * GROWTH;
    last = bytes;
    if (!isAtRest || bytes < afterwards + WORTH_RETURNING) return;
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

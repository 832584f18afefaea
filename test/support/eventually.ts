// Waits, with a deadline, for an effect of the kernel, a socket or another process.
import { setTimeout } from 'node:timers/promises';

const LONGEST_MS = 60_000;

/** Resolves once the condition holds; rejects with `what` after the deadline. */
export async function eventually(
  what: string,
  holds: () => boolean,
  longestMs = LONGEST_MS,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += 2) {
    if (holds()) return;
    await setTimeout(2);
  }
  throw new Error(`Waited ${longestMs} ms for: ${what}`);
}

// Waiting with a bound, for what another process or the kernel does.
import { setTimeout } from 'node:timers/promises';

/** Asks every few milliseconds until `ask` knows; fails with the name of what never came. */
export async function until<T>(
  what: string,
  ask: () => T | undefined,
  milliseconds = 5000,
): Promise<T> {
  for (let waited = 0; waited <= milliseconds; waited += 2) {
    const answer = ask();
    if (answer !== undefined) return answer;
    await setTimeout(2);
  }
  throw new Error(`Waited ${milliseconds} ms for ${what}`);
}

// Has V8 compile for speed only what runs for long.
import { setFlagsFromString } from 'node:v8';

/**
 * How often a function runs before V8 compiles it for speed, as each version counts it: 11 in bytes of
 * code that ran, later ones in calls of average length. About seven times what each does by itself:
 * else the hundreds of functions that a scrape calls, each for a moment, are compiled one after the other
 * in the first hundred scrapes, which takes a third of the processor time of these, and while a tree is
 * bound, that work takes turns of the event loop their processor. With fifteen times, a start takes an
 * eighth longer.
 */
const LATER = ['--invocation-count-for-turbofan=22500', '--invocation-count-for-maglev=3000'];
const FLAGS: ReadonlyMap<number, readonly string[]> = new Map([
  [11, ['--interrupt-budget=500000']],
  [12, LATER],
  [13, LATER],
]);

/**
 * From now on, for all threads of the process.
 * @param v8 its version; of one that is not known nothing is changed
 */
export function compileLate(v8: string): void {
  for (const flag of FLAGS.get(parseInt(v8)) ?? []) setFlagsFromString(flag);
}

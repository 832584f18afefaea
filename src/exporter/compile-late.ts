// Has V8 compile for speed only what runs for long.
import { setFlagsFromString } from 'node:v8';

const BY_CALLS = ['--invocation-count-for-turbofan=22500', '--invocation-count-for-maglev=3000'];

/**
 * How much a function runs before V8 compiles it for speed, by the major version of V8: 11 counts the bytes of
 * its code that ran, later ones its calls. These are seven to eight times the defaults (`node --v8-options`).
 * With the defaults, the hundreds of functions that a scrape calls for a moment each are compiled during
 * the first hundred scrapes, for a third of their processor time; and while a tree is bound, the compiler
 * takes a processor that the event loop needs. With fifteen times the default, a start takes an eighth longer.
 */
const FLAGS: ReadonlyMap<number, readonly string[]> = new Map([
  [11, ['--interrupt-budget=500000']],
  [12, BY_CALLS],
  [13, BY_CALLS],
]);

/**
 * From now on, for all threads of the process.
 * @param v8 its version; one that is not in the table keeps its defaults
 */
export function compileLate(v8: string): void {
  for (const flag of FLAGS.get(parseInt(v8)) ?? []) setFlagsFromString(flag);
}

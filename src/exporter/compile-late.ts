// Has V8 compile for speed only what runs for long.
import { setFlagsFromString } from 'node:v8';

type Amounts = Readonly<Record<string, number>>;

const BY_CALLS: Amounts = {
  'invocation-count-for-turbofan': 3000,
  'invocation-count-for-maglev': 400,
};

/**
 * How much a function runs before V8 compiles it for speed, by the major version of V8, by default
 * (`node --v8-options`): 11 counts the bytes of its code that ran, later ones its calls.
 */
const DEFAULTS: ReadonlyMap<number, Amounts> = new Map([
  [11, { 'interrupt-budget': 67_584 }],
  [12, BY_CALLS],
  [13, BY_CALLS],
]);

/**
 * How much longer than by default V8 waits: docs/performance.md has what other numbers cost.
 * While trees are bound, what is called a million times is to be fast soon. Later the hundreds of functions that a
 * scrape calls for a moment each would be compiled during the first hundred scrapes, for a third of their
 * processor time.
 */
export const LATE = { binding: 2, serving: 7.5 } as const;

/**
 * From now on, for all threads of the process.
 * @param v8 its version; one that is not in the table keeps its defaults
 * @param times how much longer than by default it waits
 */
export function compileLate(v8: string, times: number): void {
  for (const [flag, amount] of Object.entries(DEFAULTS.get(parseInt(v8)) ?? {}))
    setFlagsFromString(`--${flag}=${Math.round(amount * times)}`);
}

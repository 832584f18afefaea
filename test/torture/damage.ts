// Segments that are damaged while they are read, in one process: any bytes, CRCs put right or not.
import fc from 'fast-check';
import { messageOf } from '#app/errors.js';
import { lookAtDamage } from '../support/damaged-looks.js';
import { mutation } from '../support/mutations.js';
import { sampleSegment } from '../support/sample-segment.js';
import type { Given, Outcome } from './trial.js';

const DAMAGES_A_MINUTE = 40_000;
/** Between two turns of the event loop. */
const BATCH = 2000;
/** One look, its frames and its tree included. */
const MAX_LOOK_MS = 1000;

export async function runDamage({ seed, minutes, log }: Given): Promise<Outcome> {
  const sample = sampleSegment();
  const wrong: string[] = [];
  const states = new Map<string, number>();
  const count = Math.max(2000, Math.round(DAMAGES_A_MINUTE * minutes));
  const several = fc.array(mutation, { minLength: 1, maxLength: 5 });
  let worstMs = 0;
  for (let tried = 0; tried < count; tried += BATCH) {
    const cases = fc.sample(several, { seed: seed + tried, numRuns: BATCH });
    for (const mutations of cases) {
      const began = performance.now();
      try {
        for (const state of lookAtDamage(sample, mutations))
          states.set(state, (states.get(state) ?? 0) + 1);
      } catch (error) {
        wrong.push(`${mutations.map(String).join(', ')}: ${messageOf(error)}`);
      }
      worstMs = Math.max(worstMs, performance.now() - began);
    }
    if ((tried / BATCH) % 50 === 49) log(`${tried + BATCH} of ${count} damages`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (worstMs > MAX_LOOK_MS) wrong.push(`looks at one damage took ${worstMs.toFixed(0)} ms`);
  const seen = [...states].sort(([, a], [, b]) => b - a).map(([state, n]) => `${n} ${state}`);
  return {
    tried: count,
    wrong,
    figures: `looks: ${seen.join(', ')}; ${worstMs.toFixed(0)} ms at most`,
  };
}

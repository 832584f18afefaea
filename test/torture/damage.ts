// Damages random bytes of segments while they are read, in one process, with and without valid CRCs.
import { Corpus, DRAWS, draws, sentenceOf } from './corpus.js';
import { messageOf } from '#app/errors.js';
import { pollDamaged } from '../support/poll-damaged.js';
import { sampleSegment } from '../support/sample-segment.js';
import type { Given, Outcome } from './trial.js';

const DAMAGES_A_MINUTE = 40_000;
/** The longest time for all polls of one damaged segment, including the reads of its frames and its tree. */
const MAX_LOOK_MS = 1000;

export async function runDamage({ seed, minutes, keeps, log }: Given): Promise<Outcome> {
  const sample = sampleSegment();
  const wrong: string[] = [];
  const states = new Map<string, number>();
  const count = Math.max(2000, Math.round(DAMAGES_A_MINUTE * minutes));
  let worstMs = 0;
  const corpus = Corpus.read();
  const known = corpus.size;
  for (let tried = 0; tried < count; tried += DRAWS) {
    const cases = draws(seed + tried);
    for (const [index, mutations] of cases.entries()) {
      const began = performance.now();
      try {
        const verdicts = pollDamaged(sample, mutations);
        for (const { state } of verdicts) states.set(state, (states.get(state) ?? 0) + 1);
        for (const verdict of verdicts)
          corpus.offer({ seed: seed + tried, index }, mutations.length, sentenceOf(verdict));
      } catch (error) {
        wrong.push(`${mutations.map(String).join(', ')}: ${messageOf(error)}`);
      }
      worstMs = Math.max(worstMs, performance.now() - began);
    }
    if ((tried / DRAWS) % 50 === 49) log(`${tried + DRAWS} of ${count} damages`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (worstMs > MAX_LOOK_MS) wrong.push(`looks at one damage took ${worstMs.toFixed(0)} ms`);
  if (keeps) corpus.write();
  const seen = [...states].sort(([, a], [, b]) => b - a).map(([state, n]) => `${n} ${state}`);
  return {
    tried: count,
    wrong,
    figures: `looks: ${seen.join(', ')}; ${worstMs.toFixed(0)} ms at most; ${corpus.size - known} sentences that the corpus of ${known} does not have`,
  };
}

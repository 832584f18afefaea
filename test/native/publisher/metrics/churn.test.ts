// Compares the children of published metrics, which come and go, with a model.
import { expect } from 'chai';
import fc from 'fast-check';
import { Counter, Histogram, Registry } from '#app/native/publisher/library.js';
import type { CounterChild, HistogramChild } from '#app/native/publisher/library.js';
import { shown } from '../../../support/page-content.js';
import { freshPublications } from '../../../support/publications.js';

const CHILDREN = 10_000;
/** The number of different label values. Most children of a label value have predecessors. */
const NAMES = 400;
const CHECKS = 10;
const OPERATIONS = CHILDREN / CHECKS;

/** An operation: a label value, whether to remove its child, an amount, and whether to reset the metrics before. */
const operation = fc.tuple(
  fc.integer({ min: 0, max: NAMES - 1 }),
  fc.boolean(),
  fc.integer({ min: 1, max: 9 }),
  fc.integer({ min: 0, max: 99 }).map((number) => number === 0),
);

describe(`The children of a published metric, of which ${CHILDREN} are added and removed`, () => {
  const { publishing, serve, settled } = freshPublications();

  it('are shown with exactly the values of a model, and removed children change none of them', async () => {
    const register = new Registry();
    const options = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const counter = new Counter({ name: 'c_total', ...options });
    const histogram = new Histogram({ name: 'h', buckets: [5], ...options });
    const published = publishing({ register });
    const served = serve();
    const model = new Map<string, { count: number; low: number; high: number; sum: number }>();
    const removed: (CounterChild | HistogramChild)[] = [];
    for (const operations of fc.sample(
      fc.array(operation, { minLength: OPERATIONS, maxLength: OPERATIONS }),
      CHECKS,
    )) {
      for (const [index, isRemoved, amount, isReset] of operations) {
        if (isReset) {
          register.resetMetrics();
          model.clear();
        }
        const n = String(index);
        const [counted, observed] = [counter.labels(n), histogram.labels(n)];
        const now = model.get(n) ?? { count: 0, low: 0, high: 0, sum: 0 };
        if (isRemoved) {
          counter.remove(n);
          histogram.remove({ n });
          removed.push(counted, observed);
          model.delete(n);
        } else {
          counted.inc(amount);
          observed.observe(amount);
          const [low, high] = amount <= 5 ? [now.low + 1, now.high] : [now.low, now.high + 1];
          model.set(n, { count: now.count + amount, low, high, sum: now.sum + amount });
        }
      }
      for (const child of removed)
        if ('inc' in child) child.inc(1e6);
        else child.observe(1e6);
      await settled(published, served);
      const expected = [...model].flatMap(([n, { count, low, high, sum }]) => {
        const own = ['n', n];
        return [
          ['c_total', [own], count],
          ['h_bucket', [['le', '5'], own], low],
          ['h_bucket', [['le', '+Inf'], own], low + high],
          ['h_sum', [own], sum],
          ['h_count', [own], low + high],
        ].map((sample) => JSON.stringify(sample));
      });
      expect(shown(served).samples).to.deep.equal(expected.sort());
    }
  });
});

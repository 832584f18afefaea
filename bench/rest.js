// What a rest costs the work that comes after it, in one process, without a connection: the same work on the same
// memory, right after the last time and after some milliseconds of sleep. Beside it memory that is moved, and
// arithmetic that touches none: whether the processor is slow after a rest, or far from what it needs.
// Usage: rest.js [series]
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScrapeWork } from './scrape-work.js';

const SERIES = Number(process.argv[2] ?? 10_000);
const RESTS_MS = [0, 1, 5, 15, 30];
const SHARE = 0.01;
const [FIRST_ROUNDS, ROUNDS] = [10, 60];
/** As much as the text of 100,000 series. */
const moved = Buffer.alloc(12 << 20, 1);

const work = new ScrapeWork(SERIES);
const STEPS = {
  'copy and compare': () => work.copy(),
  'render and make the page': () => work.page({ text: true, deflated: false }).release(),
  'move 12 MB': () => moved.copyWithin(1, 0),
  'arithmetic alone': () => arithmetic(200_000),
};

function arithmetic(times) {
  let sum = 1;
  for (let i = 0; i < times; i++) sum = (Math.imul(sum, 1_664_525) + 1_013_904_223) | 0;
  return sum;
}

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const table = Object.fromEntries(Object.keys(STEPS).map((name) => [name, {}]));
for (const restMs of RESTS_MS) {
  const taken = Object.fromEntries(Object.keys(STEPS).map((name) => [name, []]));
  for (let round = -FIRST_ROUNDS; round < ROUNDS; round++) {
    work.change(SHARE);
    for (const [name, step] of Object.entries(STEPS)) {
      if (restMs > 0) await sleep(restMs);
      const startedAt = performance.now();
      step();
      if (round >= 0) taken[name].push(performance.now() - startedAt);
    }
  }
  for (const [name, list] of Object.entries(taken))
    table[name][`${restMs} ms of rest`] = Number(median(list).toFixed(3));
}
console.log(`${SERIES} series, ${SHARE * 100} % changed, medians in ms`);
console.table(table);
work.close();

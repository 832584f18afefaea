// Compares updates of this library's metrics with those of prom-client, in one run. The libraries take turns, so that
// noise of the machine affects both alike. Usage: metrics.js [rounds] [thousands of updates in a round]
import prometheus from 'prom-client';
import {
  Counter,
  Histogram,
  Registry,
  Summary,
  publish,
} from '../dist/native/publisher/library.js';

const ROUNDS = Number(process.argv[2] ?? 15);
const COUNT = Number(process.argv[3] ?? 200) * 1000;
const help = 'A metric.';
const METHODS = ['get', 'post', 'put'];
const ROUTES = ['/', '/pay', '/cart', '/orders'];

/** The measured updates. Each has its own loop, so that it is compiled for one library. */
function updates({ Counter, Histogram, Summary, Registry }) {
  const registers = [new Registry()];
  const labelNames = ['method', 'route'];
  const options = (name) => ({ name, help, labelNames, registers });
  const counter = new Counter(options('requests_total'));
  const fixed = counter.labels('get', '/');
  const histogram = new Histogram(options('duration_seconds'));
  const observed = histogram.labels('get', '/');
  const summary = new Summary({ ...options('wait_seconds'), percentiles: [] });
  const waited = summary.labels('get', '/');
  const quantiles = new Summary(options('size_bytes')).labels('get', '/');
  const loop = (body) =>
    new Function('u', 'count', 'METHODS', 'ROUTES', `for (let i = 0; i < count; i++) ${body}`);
  const used = { counter, fixed, histogram, observed, waited, quantiles };
  const bodies = {
    '`inc` of a kept child': 'u.fixed.inc()',
    '`inc` with labels': 'u.counter.inc({ method: METHODS[i % 3], route: ROUTES[i % 4] })',
    '`labels()` and `inc`': 'u.counter.labels(METHODS[i % 3], ROUTES[i % 4]).inc()',
    '`observe` of a kept child of a histogram': 'u.observed.observe((i % 100) / 50)',
    '`observe` with labels':
      'u.histogram.observe({ method: METHODS[i % 3], route: ROUTES[i % 4] }, (i % 100) / 50)',
    '`observe` of a summary without quantiles': 'u.waited.observe((i % 100) / 50)',
    '`observe` of a summary with quantiles': 'u.quantiles.observe((i % 100) / 50)',
  };
  const runs = Object.entries(bodies).map(([name, body]) => {
    const run = loop(body);
    return [name, () => run(used, COUNT, METHODS, ROUTES)];
  });
  return { registers, runs };
}

const median = (list) => list.toSorted((one, other) => one - other)[Math.floor(list.length / 2)];
function nsOf(run) {
  const start = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - start) / COUNT;
}

const ours = updates({ Counter, Histogram, Summary, Registry });
const theirs = updates(prometheus);
const [register] = ours.registers;
const published = publish({ serverKey: `metrics-${process.pid}`, app: 'metrics', register });
try {
  console.log('| Update | this ns | prom-client ns | this / prom-client |\n|---|---:|---:|---:|');
  ours.runs.forEach(([name, run], index) => {
    const [, other] = theirs.runs[index];
    const times = [[], []];
    for (let round = -3; round < ROUNDS; round++) {
      const pair = [nsOf(run), nsOf(other)];
      if (round >= 0) pair.forEach((ns, which) => times[which].push(ns));
    }
    const ratio = median(times[0].map((ns, round) => ns / times[1][round]));
    const [own, its] = times.map((list) => median(list).toFixed(1));
    console.log(`| ${name} | ${own} | ${its} | ${ratio.toFixed(2)} |`);
  });
} finally {
  published.close();
}

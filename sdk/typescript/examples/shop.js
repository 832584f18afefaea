// The common example of metrics with labels: the ten metrics of sdk/c/shop.c and sdk/python/examples/shop.py.
// Usage: node shop.js [server key] [context id]
const { Counter, Gauge, Histogram, Info, Summary, publish } = require('shm-publisher');

const [serverKey = 'shop-1', contextId] = process.argv.slice(2);

const requests = new Counter({
  name: 'shop_requests_total',
  help: 'Requests that were answered.',
  labelNames: ['code', 'method'],
});
const bytes = new Counter({ name: 'shop_bytes_total', help: 'Bytes sent.' });
const errors = new Counter({ name: 'shop_errors_total', help: 'Errors.', labelNames: ['kind'] });
const sessions = new Gauge({ name: 'shop_open_sessions', help: 'Sessions that are open.' });
const temperature = new Gauge({
  name: 'shop_temperature_celsius',
  help: 'Temperature.',
  labelNames: ['room'],
});
const success = new Gauge({
  name: 'shop_last_success_timestamp_seconds',
  help: 'Time of the last success.',
});
const duration = new Histogram({
  name: 'shop_duration_seconds',
  help: 'Duration of requests.',
  labelNames: ['route'],
});
const size = new Histogram({
  name: 'shop_size_bytes',
  help: 'Size of answers.',
  buckets: [100, 1000],
});
const wait = new Summary({
  name: 'shop_wait_seconds',
  help: 'Wait in a queue.',
  labelNames: ['queue'],
  percentiles: [], // count and sum only
});
const build = new Info({
  name: 'shop_build',
  help: 'Version of the program.',
  labelNames: ['version', 'revision'],
});

publish({ serverKey, app: 'shop', contextId });

const answered = requests.labels('200', 'get'); // looked up once
for (let request = 0; request < 3; request++) answered.inc();
requests.inc({ code: 500, method: 'post' });
bytes.inc(4096);
errors.inc({ kind: 'a "quoted" \\ text\nend' }, 2);
sessions.inc(3);
sessions.dec();
temperature.set({ room: 'north' }, -2.5);
temperature.set({ room: 'süd' }, 21.75);
success.set(1_800_000_000);
for (const seconds of [0.003, 0.3, 42]) duration.observe({ route: '/' }, seconds);
duration.observe({ route: '/pay' }, 1);
for (const answer of [50, 500, 5000]) size.observe(answer);
for (const seconds of [0.5, 1.5]) wait.observe({ queue: 'main' }, seconds);
build.set({ version: '1.2.3', revision: 'abc' });
console.error('ready');

setInterval(() => undefined, 60_000); // your program
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit());

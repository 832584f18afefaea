// Tests that metrics refuse wrong options, labels and values, and name them.
import { expect } from 'chai';
import * as prom from 'prom-client';
import {
  Counter,
  Gauge,
  Histogram,
  Info,
  Registry,
  Summary,
  exponentialBuckets,
  linearBuckets,
  publish,
} from '#app/native/publisher/library.js';

const registers: readonly Registry[] = [];
const own = { help: 'H.', registers };
/** Options as a program in JavaScript may pass them. */
const wrong = (options: unknown) => options as never;

const REFUSED: readonly (readonly [what: string, call: () => unknown, message: string | RegExp])[] =
  [
    [
      'no options',
      () => new Counter(wrong(undefined)),
      'Counter: found nothing, allowed: an object',
    ],
    [
      'no options of a histogram',
      () => new Histogram(wrong(undefined)),
      'Histogram: found nothing, ',
    ],
    ['no name', () => new Counter(wrong(own)), 'Counter: name: found nothing, allowed: a string'],
    [
      'no help text',
      () => new Gauge(wrong({ name: 'g' })),
      'Gauge: help: found nothing, allowed: a',
    ],
    [
      'an empty help text',
      () => new Gauge({ name: 'g', help: '' }),
      'Gauge: help: found "", allowed',
    ],
    [
      'an unknown option',
      () => new Counter(wrong({ ...own, name: 'c', labelnames: ['a'] })),
      'Counter: unknown option "labelnames" (did you mean "labelNames"?)',
    ],
    [
      'an option of another metric',
      () => new Gauge(wrong({ ...own, name: 'g', buckets: [1] })),
      'Gauge: unknown option "buckets", allowed: name, help, ',
    ],
    [
      'a wrong metric name',
      () => new Counter({ ...own, name: 'http-requests' }),
      'Counter: the metric has the metric name "http-requests", allowed: letters',
    ],
    [
      'a wrong label name',
      () => new Counter({ ...own, name: 'c', labelNames: ['a-b'] }),
      'Counter: the metric has the label name "a-b", allowed: letters',
    ],
    [
      'a label name twice',
      () => new Counter({ ...own, name: 'c', labelNames: ['a', 'a'] }),
      'Counter: labelNames[1]: repeats [0]',
    ],
    [
      'the label le of a histogram',
      () => new Histogram({ ...own, name: 'h', labelNames: ['le'] }),
      'Histogram: the metric has the label le, which a histogram adds itself',
    ],
    [
      'buckets that fall',
      () => new Histogram({ ...own, name: 'h', buckets: [2, 1] }),
      'Histogram: buckets: found 2, 1, allowed: numbers in ascending order',
    ],
    [
      'a bucket that is no number',
      () => new Histogram({ ...own, name: 'h', buckets: wrong([1, '2']) }),
      'Histogram: buckets[1]: found "2", allowed: a finite number',
    ],
    [
      'a quantile above 1',
      () => new Summary({ ...own, name: 's', percentiles: [99] }),
      'Summary: percentiles[0]: found 99 (write 0.99), allowed: a number from 0 to 1',
    ],
    [
      'an age of 0',
      () => new Summary({ ...own, name: 's', maxAgeSeconds: 0 }),
      'Summary: maxAgeSeconds: found 0, allowed: a number above 0',
    ],
    [
      'a collect that is no function',
      () => new Gauge(wrong({ ...own, name: 'g', collect: 5 })),
      'Gauge: collect: found 5, allowed: a function',
    ],
    [
      'no child at all',
      () => new Gauge({ ...own, name: 'g', maxChildren: 0 }),
      'Gauge: maxChildren: found 0, allowed: an integer from 1',
    ],
    ['an info without a name', () => new Info(wrong(own)), 'Info: name: found nothing'],
    ['no options of an info', () => new Info(wrong(undefined)), 'Info: found nothing, allowed'],
    ['a merge of nothing', () => Registry.merge(wrong([])), 'merge: registers: found '],
    [
      'a metric that is none',
      () => {
        new Registry().registerMetric(wrong(null));
      },
      'registerMetric: metric: found nothing, allowed: a metric of',
    ],
    [
      'a server key that is missing',
      () => publish(wrong({ app: 'a' })),
      'serverKey: found nothing',
    ],
    [
      'an app that is no name',
      () => publish({ serverKey: '82', app: '1' }),
      'publish: app: found "1", allowed',
    ],
    [
      'a misspelt option of publish',
      () => publish(wrong({ serverKey: '82', app: 'a', registers: [] })),
      'publish: unknown option "registers" (did you mean "register"?)',
    ],
    [
      'an option that publish sets itself',
      () => publish(wrong({ serverKey: '82', app: 'a', series: false })),
      'publish: unknown option "series", allowed: app, intervalMs, ',
    ],
    [
      'a heartbeat that no timer can keep',
      () => publish({ serverKey: '82', app: 'a', heartbeatMs: 2 ** 31 }),
      'publish: heartbeatMs: found 2147483648, allowed: an integer from 0 to 2147483647',
    ],
    ['no options of publish', () => publish(wrong(undefined)), 'publish: found nothing, allowed'],
    [
      'a default label with a wrong name',
      () => {
        new Registry().setDefaultLabels({ 'a-b': 1 });
      },
      'setDefaultLabels: labels: found an object that has the label name "a-b", allowed: letters',
    ],
    [
      'a default label with a symbol as its value',
      () => {
        new Registry().setDefaultLabels({ a: Symbol('s') });
      },
      'setDefaultLabels: labels: a: found a symbol, allowed: a text, or a value that can be converted',
    ],
    [
      'a default label with a long value',
      () => {
        new Registry().setDefaultLabels({ a: 'x'.repeat(70_000) });
      },
      'allowed: a text, or a value that can be converted to one, of at most 4096 bytes',
    ],
    [
      'default labels that are no object',
      () => {
        new Registry().setDefaultLabels(wrong(null));
      },
      'setDefaultLabels: labels: found nothing, allowed: an object with labels',
    ],
    [
      'a register of another kind',
      () => publish(wrong({ serverKey: '82', app: 'a', register: {} })),
      'publish: register: found an object, allowed: a Registry of this library',
    ],
    [
      'a register of prom-client',
      () => publish(wrong({ serverKey: '82', app: 'a', register: prom.register })),
      'publish: register: found an object (for a registry of prom-client, use publishRegistry), allowed: a Registry',
    ],
    [
      'a negative increase',
      () => new Counter({ ...own, name: 'c' }).inc(-1),
      'inc: value: found -1, allowed: a finite number from 0, since a counter does not fall',
    ],
    [
      'an increase that is no number',
      () => new Counter({ ...own, name: 'c' }).inc(wrong('5')),
      /inc: value: found "5", allowed: a finite number from 0$/,
    ],
    [
      'an increase by NaN',
      () => new Counter({ ...own, name: 'c' }).inc(NaN),
      /inc: value: found NaN, allowed: a finite number from 0$/,
    ],
    [
      'an increase by Infinity',
      () => new Counter({ ...own, name: 'c' }).inc(Infinity),
      /inc: value: found Infinity, allowed: a finite number from 0$/,
    ],
    [
      'no observation of a histogram',
      () => new Histogram({ ...own, name: 'h' }).observe(wrong(undefined)),
      'h: observe: value: found nothing, allowed: a finite number',
    ],
    [
      'no observation of a summary',
      () => new Summary({ ...own, name: 's' }).observe({}, wrong(undefined)),
      's: observe: value: found nothing, allowed: a finite number',
    ],
    [
      'a bucket that is NaN',
      () => new Histogram({ ...own, name: 'h', buckets: [NaN] }),
      'Histogram: buckets[0]: found NaN, allowed: a finite number',
    ],
    [
      'a value that is no number',
      () => new Gauge({ ...own, name: 'g' }).set(wrong('5')),
      'set: value: found "5", allowed: a number',
    ],
    [
      'an observation of NaN',
      () => new Histogram({ ...own, name: 'h' }).observe(NaN),
      'h: observe: value: found NaN, allowed: a finite number',
    ],
    [
      'a label that was not declared',
      () => new Counter({ ...own, name: 'c', labelNames: ['a'] }).inc(wrong({ a: '1', b: '2' })),
      'labels: found the label "b", allowed: a',
    ],
    [
      'too few label values',
      () => new Counter({ ...own, name: 'c', labelNames: ['a', 'b'] }).labels('1'),
      'labels: found 1 value: "1", allowed: 2, one for each of: a, b',
    ],
    [
      'too many label values',
      () =>
        new Counter({ ...own, name: 'c' }).labels(
          ...Array.from({ length: 9 }, (_, index) => String(index)),
        ),
      'labels: found 9 values: "0", "1", "2", "3", "4", "5", "6", "7", …, allowed: 0, one for each of: no label',
    ],
    [
      'two metrics of one name',
      () => {
        const registry = new Registry();
        for (const help of ['One.', 'Two.']) new Gauge({ name: 'g', help, registers: [registry] });
      },
      'registerMetric: A metric with the name g has already been registered.',
    ],
    [
      'no buckets',
      () => linearBuckets(0, 1, 0),
      'linearBuckets: count: found 0, allowed: an integer',
    ],
    [
      'buckets that do not grow',
      () => exponentialBuckets(1, 1, 5),
      'exponentialBuckets: factor: found 1, allowed: a number above 1',
    ],
  ];

describe('Metrics', () => {
  for (const [what, call, message] of REFUSED)
    it(`refuse ${what} with "${message}"`, () => {
      expect(call).to.throw(RangeError, message);
    });

  it('count only what they accept', async () => {
    const counter = new Counter({ ...own, name: 'c' });
    for (const value of [-1, NaN, Infinity]) expect(() => counter.inc(value)).to.throw(RangeError);
    counter.inc(2);
    expect((await counter.get()).values).to.deep.equal([{ value: 2, labels: {} }]);
  });

  it('allow a last bucket +Inf, which every histogram has', async () => {
    const histogram = new Histogram({ ...own, name: 'h', buckets: [1, Infinity] });
    histogram.observe(2);
    const { values } = await histogram.get();
    expect(values.map(({ labels, value }) => [labels['le'], value]).slice(0, 2)).to.deep.equal([
      [1, 0],
      ['+Inf', 1],
    ]);
  });

  it('add no child for a value that they refuse', async () => {
    const labelNames = ['a'] as const;
    const counter = new Counter({ ...own, name: 'c', labelNames });
    const gauge = new Gauge({ ...own, name: 'g', labelNames });
    for (const call of [
      () => {
        counter.inc({ a: '1' }, -1);
      },
      () => {
        gauge.inc({ a: '1' }, wrong('5'));
      },
      () => {
        gauge.dec({ a: '1' }, wrong('5'));
      },
    ])
      expect(call).to.throw(RangeError, /^[cg]: (inc|dec): value: found/);
    for (const metric of [counter, gauge]) expect((await metric.get()).values).to.deep.equal([]);
  });

  it('observe a value after undefined labels, as prom-client does', async () => {
    for (const metric of [
      new Histogram({ ...own, name: 'h' }),
      new Summary({ ...own, name: 's', percentiles: [] }),
    ]) {
      metric.observe(undefined, 5);
      expect((await metric.get()).values.at(-1)).to.have.property('value', 1);
    }
  });

  it('allow a label that objects inherit a property for, and return copies of labels', async () => {
    const gauge = new Gauge({ ...own, name: 'g', labelNames: ['constructor', 'a'] });
    gauge.set(wrong({ a: 1 }), 2);
    expect((await gauge.get()).values).to.deep.equal([{ labels: { a: 1 }, value: 2 }]);
    for (const { labels } of (await gauge.get()).values) Object.assign(labels, { a: 3 });
    gauge.remove(wrong({ a: 1 }));
    expect((await gauge.get()).values).to.deep.equal([]);
  });

  it('may be objects of the program that have only get()', async () => {
    const register = new Registry();
    const values = [{ value: 1, labels: {} }];
    const get = () => Promise.resolve({ name: 'g', help: 'H.', type: 'gauge', values });
    register.registerMetric(wrong({ get }));
    expect(await register.metrics()).to.equal('# HELP g H.\n# TYPE g gauge\ng 1\n');
  });

  it('do not follow later changes of the arrays in their options', async () => {
    const buckets = [1, 2];
    const histogram = new Histogram({ ...own, name: 'h', buckets });
    buckets.push(3, 4);
    histogram.observe(3.5);
    const { values } = await histogram.get();
    expect(values.map(({ labels }) => labels['le']).filter(Boolean)).to.deep.equal([1, 2, '+Inf']);
    expect(values.at(-1)).to.have.property('value', 1);
  });

  it('take the same child for the number 200 and the text "200", and another one without the label', () => {
    const counter = new Counter({ ...own, name: 'c', labelNames: ['code', 'path'] });
    const child = counter.labels({ code: 200, path: '/' });
    expect(counter.labels('200', '/')).to.equal(child);
    expect(counter.labels({ path: '/', code: '200' })).to.equal(child);
    expect(counter.labels({ path: '/' })).not.to.equal(child);
    expect(counter.labels({ code: 200 })).not.to.equal(child);
  });
});

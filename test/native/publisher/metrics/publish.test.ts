// Tests that published metrics are shown as prom-client shows the same metrics, and what becomes of their children.
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import * as theirs from 'prom-client';
import { Fault } from '#app/errors.js';
import * as ours from '#app/native/publisher/library.js';
import { posixMemory } from '#app/native/os/posix.js';
import { MUTABLE, MUTABLE_OFFSET, segmentName } from '#app/native/segment/layout.js';
import { SegmentPoller } from '#app/native/segment/segment-poller.js';
import { contentOf, shown } from '../../../support/page-content.js';
import { waitFor } from '../../../support/processes.js';
import { freshPublications } from '../../../support/publications.js';

/** The same metrics and updates with either library. */
function everyMetric(library: typeof ours | typeof theirs) {
  const { Counter, Gauge, Histogram, Registry, Summary } = library as typeof theirs;
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['code', 'path'] as const;
  const own = { registers, labelNames };
  const counter = new Counter({ name: 'http_requests_total', help: 'Requests.', ...own });
  const gauge = new Gauge({ name: 'app:queue', help: 'Jobs.\nThat wait.', registers });
  const levels = new Gauge({ name: 'level', help: 'Levels.', registers, labelNames: ['room'] });
  const buckets = [0.5, 1, 10];
  const histogram = new Histogram({ name: 'delay', help: 'Delay.', buckets, ...own });
  const summary = new Summary({ name: 'size', help: 'Size.', percentiles: [0.5, 0.9], ...own });
  counter.inc({ code: 200, path: '/"a"\\' }, 3);
  counter.inc({ code: 500 });
  gauge.set(-1.5);
  levels.labels('süd').set(Infinity);
  levels.labels({ room: 'nord' }).dec(2);
  for (const value of [0.1, 0.7, 7, 70]) {
    histogram.observe({ code: 200 }, value);
    summary.observe({ path: '/' }, value);
  }
  return { registry, counter, gauge, levels, histogram, summary };
}
type Metrics = ReturnType<typeof everyMetric>;

/** Every metric in both libraries. */
const both = (): [Metrics, Metrics] => [everyMetric(ours), everyMetric(theirs)];
/** A registry of this library, which the types of `everyMetric` do not tell. */
const ownRegistry = ({ registry }: Metrics): ours.Registry => registry as unknown as ours.Registry;

describe('Published metrics', () => {
  const { publishing, serve, settled, publishers } = freshPublications();

  it('are shown as prom-client shows the same metrics, if they were updated before', async () => {
    const [own, other] = both();
    publishing({ register: ownRegistry(own) });
    expect(shown(serve())).to.deep.equal(contentOf(await other.registry.metrics()));
  });

  it('follow updates and children that come and go, without a call of update()', async () => {
    const [own, other] = both();
    const published = publishing({ register: ownRegistry(own) });
    const served = serve();
    for (const { counter, gauge, histogram, levels } of [own, other]) {
      counter.inc({ code: 500 }, 2);
      counter.remove({ code: 200, path: '/"a"\\' });
      gauge.inc(0.5);
      levels.reset();
      levels.set({ room: 'west' }, 4);
      histogram.observe({ code: 200 }, 0.2);
      histogram.labels({ code: '404' }).observe(3);
    }
    await Promise.resolve();
    served.clock.advance(2000);
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
    for (const { registry, summary } of [own, other]) {
      summary.observe({ path: '/' }, 5);
      registry.removeSingleMetric('delay');
      const late = { name: 'late_total', help: 'Late.', registers: [registry] };
      if (registry === own.registry)
        new ours.Counter({ ...late, registers: [ownRegistry(own)] }).inc(7);
      else new theirs.Counter(late).inc(7);
    }
    await settled(published, served);
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
  });

  it('have the default labels of their registry, also if these change', async () => {
    const [own, other] = both();
    for (const { registry } of [own, other]) registry.setDefaultLabels({ shop: 'north', code: 1 });
    const published = publishing({ register: ownRegistry(own) });
    const served = serve();
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
    for (const { registry, counter } of [own, other]) {
      registry.setDefaultLabels({ shop: 'south' });
      counter.inc({ code: 500 });
    }
    await settled(published, served);
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
  });

  it('may have many registries, of which the exit of the process closes each', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    const listeners = process.listenerCount('exit');
    const open = Array.from({ length: 20 }, (_, index) =>
      publishing({ register: new ours.Registry(), serverKey: `many${index}` }),
    );
    await new Promise(setImmediate);
    process.off('warning', warned);
    expect(warnings).to.deep.equal([]);
    expect(process.listenerCount('exit') - listeners).to.be.at.most(1);
    for (const each of open) each.close();
    expect(process.listenerCount('exit')).to.equal(listeners);
  });

  it('have no default label whose value is undefined, and 0 for -0', async () => {
    const register = new ours.Registry();
    const other = new theirs.Registry();
    register.setDefaultLabels({ shop: undefined, part: -0 });
    other.setDefaultLabels({ part: -0 });
    const buckets = [-0, 1];
    for (const [{ Gauge, Histogram }, registers] of [
      [ours, [register]],
      [theirs, [other]],
    ] as unknown as readonly [typeof theirs, theirs.Registry[]][]) {
      new Gauge({ name: 'g', help: 'H.', registers, labelNames: ['n'] }).set({ n: -0 }, -0);
      new Histogram({ name: 'h', help: 'H.', registers, buckets }).observe(-0);
    }
    expect(await register.metrics()).to.equal(await other.metrics());
    publishing({ register });
    expect(shown(serve())).to.deep.equal(contentOf(await other.metrics()));
  });

  it('are not published in a segment without room for their root, and leave no file', () => {
    const capacity = { records: 64, stringBytes: 16, slots: 64, frameBytes: 4096 };
    expect(() => publishing({ register: new ours.Registry(), capacity }))
      .to.throw(Fault, 'publish: the segment has no room for its root: /dev/shm is full, or')
      .with.property('code', 'SEGMENT_FULL');
    expect(
      readdirSync('/dev/shm').filter((name) => name.includes(publishers.contextId)),
    ).to.deep.equal([]);
  });

  it('keep their values after close(), and can be published again', async () => {
    const [own, other] = both();
    publishing({ register: ownRegistry(own) }).close();
    for (const { counter, histogram } of [own, other]) {
      counter.inc({ code: 500 });
      histogram.observe({ code: 200 }, 3);
    }
    publishing({ register: ownRegistry(own) });
    expect(shown(serve())).to.deep.equal(contentOf(await other.registry.metrics()));
    expect(contentOf(await own.registry.metrics())).to.deep.equal(
      contentOf(await other.registry.metrics()),
    );
  });

  it('are copied at once by a second publication, and one line names the first server key', async () => {
    const [own, other] = both();
    const warnings: string[] = [];
    publishing({ register: ownRegistry(own), serverKey: '81' });
    const warn = (sentence: string) => warnings.push(sentence);
    const published = publishing({ register: ownRegistry(own), warn });
    await new Promise(setImmediate);
    expect(warnings).to.deep.equal([
      'the metric http_requests_total is under the server key 81 already: ' +
        '82 has copies of such metrics, which are updated at its interval',
    ]);
    const served = serve();
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
    for (const { counter } of [own, other]) counter.inc({ code: 500 });
    await settled(published, served);
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
  });

  it('are published in place by a second publication once the first one has closed, so that updates are seen before the next interval', async () => {
    const [own, other] = both();
    const first = publishing({ register: ownRegistry(own), serverKey: '81' });
    const second = publishing({ register: ownRegistry(own), warn: () => undefined });
    await second.update();
    first.close();
    await second.update();
    const served = serve();
    for (const { counter, histogram, levels } of [own, other]) {
      counter.inc({ code: 500 });
      histogram.observe({ code: 404 }, 3);
      levels.remove('nord');
    }
    await Promise.resolve();
    served.clock.advance(2000);
    expect(shown(served)).to.deep.equal(contentOf(await other.registry.metrics()));
  });

  it('cause no warning about copies in a publication that waits for the same server key, or is refused for it', async () => {
    const [own] = both();
    const warnings: string[] = [];
    publishing({ register: ownRegistry(own) });
    const options = { register: ownRegistry(own), warn: (line: string) => warnings.push(line) };
    expect(() => publishing({ ...options, failIfBusy: true })).to.throw(Fault, 'holds');
    expect(warnings).to.deep.equal([]);
    await publishing(options).update();
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(
      /^another publisher holds .*; give each worker process a key with \{pid\}, /,
    );
  });

  it('may be metrics of prom-client, such as its default metrics', async () => {
    const register = new ours.Registry();
    theirs.collectDefaultMetrics({ register: register as unknown as theirs.Registry });
    const published = publishing({ register });
    await published.update();
    const { headers } = shown(serve());
    expect(headers).to.deep.equal(contentOf(await register.metrics()).headers);
    expect(headers.join()).to.contain('process_resident_memory_bytes');
  });

  it('are in their own series, whatever the program does with the array of the buckets', async () => {
    const register = new ours.Registry();
    const buckets = [1];
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const histogram = new ours.Histogram({ name: 'h', buckets, ...own });
    const kept = ['1', '2'].map((n) => histogram.labels(n));
    const published = publishing({ register });
    for (let bound = 2; bound < 20; bound++) buckets.push(bound);
    kept[0]?.observe(15);
    const served = serve();
    await settled(published, served);
    expect(shown(served).samples.filter((sample) => sample.includes('"2"'))).to.deep.equal([
      '["h_bucket",[["le","+Inf"],["n","2"]],0]',
      '["h_bucket",[["le","1"],["n","2"]],0]',
      '["h_count",[["n","2"]],0]',
      '["h_sum",[["n","2"]],0]',
    ]);
  });

  it('are published at once after a change of the default labels, also without children before', () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    publishing({ register });
    register.setDefaultLabels({ shop: 'north' });
    counter.inc({ n: 1 });
    expect(shown(serve()).samples).to.deep.equal(['["c_total",[["n","1"],["shop","north"]],1]']);
  });

  it('have the quantiles of prom-client after 0, 1, 2, 4, 8, … observations, before the next interval', async () => {
    const register = new ours.Registry();
    const other = new theirs.Registry();
    const own = { name: 's', help: 'H.', percentiles: [0.1, 0.5, 0.9] };
    const summaries = [
      new ours.Summary({ ...own, registers: [register] }),
      new theirs.Summary({ ...own, registers: [other] }),
    ];
    publishing({ register });
    const served = serve();
    const agree = async (observations: number): Promise<void> => {
      served.clock.advance(2000);
      const expected = contentOf(await other.metrics());
      expect(shown(served), `${observations} observations`).to.deep.equal(expected);
    };
    await agree(0);
    for (let count = 1; count <= 64; count++) {
      for (const summary of summaries) summary.observe(count * count);
      if (Number.isInteger(Math.log2(count))) await agree(count);
    }
    for (const summary of summaries) summary.reset();
    await agree(0);
    for (const summary of summaries) summary.observe(3);
    await agree(1);
  });

  it('are left out if a metric of the program has unusable values, and one line names it', async () => {
    const register = new ours.Registry();
    const odd = (name: string, object: unknown) => {
      register.registerMetric({ name, get: () => Promise.resolve(object as never) });
    };
    odd('nothing', null);
    odd('number', { name: 'number', help: 'H.', type: 'gauge', values: 5 });
    odd('plain', { name: 'plain', help: 'H.', type: 'gauge', values: [{ value: 3 }] });
    odd('empty', { name: 'empty', help: 'H.', type: 'gauge', values: null });
    register.setDefaultLabels({ shop: 'north' });
    const warnings: string[] = [];
    const published = publishing({ register, warn: (sentence) => void warnings.push(sentence) });
    const served = serve();
    await settled(published, served);
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["plain",[["shop","north"]],3]']);
    expect(warnings.map((line) => line.split(':')[0])).to.have.members([
      'the metric nothing cannot be collected',
      'metric number of the registry is left out',
    ]);
  });

  it('include info metrics, whose labels may change', async () => {
    const register = new ours.Registry();
    const build = { name: 'build', help: 'Version.', labelNames: ['version'] as const };
    const info = new ours.Info({ ...build, registers: [register] });
    const published = publishing({ register });
    info.set({ version: '1.2.3' });
    const served = serve();
    expect(shown(served)).to.deep.equal({
      headers: ['# HELP build_info Version.', '# TYPE build_info gauge'],
      samples: ['["build_info",[["version","1.2.3"]],1]'],
    });
    info.set({ version: '1.3' });
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["build_info",[["version","1.3"]],1]']);
    register.resetMetrics();
    info.set({ version: '1.3' });
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["build_info",[["version","1.3"]],1]']);
  });
});

describe('A kept child', () => {
  const { publishing, serve, settled } = freshPublications();

  it('updates no other series after it was removed', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    const histogram = new ours.Histogram({ name: 'h', buckets: [1], ...own });
    const summary = new ours.Summary({ name: 's', percentiles: [], ...own });
    const published = publishing({ register });
    const served = serve();
    const kept = [];
    for (let n = 0; n < 200; n++) {
      const label = { n: String(n) };
      kept.push([counter.labels(label), histogram.labels(label), summary.labels(label)] as const);
      for (const metric of [counter, histogram, summary]) metric.remove(label);
    }
    counter.inc({ n: 'last' }, 5);
    histogram.observe({ n: 'last' }, 0.5);
    summary.observe({ n: 'last' }, 2);
    for (const [counted, observed, summed] of kept) {
      counted.inc(1000);
      observed.observe(1000);
      summed.observe(1000);
    }
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal([
      '["c_total",[["n","last"]],5]',
      '["h_bucket",[["le","+Inf"],["n","last"]],1]',
      '["h_bucket",[["le","1"],["n","last"]],1]',
      '["h_count",[["n","last"]],1]',
      '["h_sum",[["n","last"]],0.5]',
      '["s_count",[["n","last"]],1]',
      '["s_sum",[["n","last"]],2]',
    ]);
  });

  it('continues with its next update after a reset, as in prom-client', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    const kept = counter.labels('1');
    kept.inc(10);
    const published = publishing({ register });
    const served = serve();
    register.resetMetrics();
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal([]);
    kept.inc(2);
    counter.inc({ n: 1 });
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["c_total",[["n","1"]],3]']);
  });
});

describe('A kept child', () => {
  const library = () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n', 'm'] as const, registers: [register] };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    const gauge = new ours.Gauge({ name: 'g', ...own });
    const histogram = new ours.Histogram({ name: 'h', buckets: [1], ...own });
    const summary = new ours.Summary({ name: 's', percentiles: [], ...own });
    return { register, counter, gauge, histogram, summary };
  };
  const series = async (metric: { get(): Promise<ours.MetricObjectWithValues> }) =>
    (await metric.get()).values.map(({ labels, value }) => [labels, value]);

  it('does not bring its series back if it was removed after a reset', async () => {
    const { counter } = library();
    const kept = counter.labels({ n: '1' });
    counter.reset();
    counter.remove({ n: '1' });
    kept.inc();
    expect(await series(counter)).to.deep.equal([]);
    counter.inc({ n: '1' }, 5);
    kept.inc();
    expect(await series(counter)).to.deep.equal([[{ n: '1' }, 5]]);
  });

  it('has its later updates after zero(), which shows it without observations', async () => {
    const { histogram } = library();
    const kept = histogram.labels({ n: '1' });
    kept.observe(0.5);
    histogram.zero({ n: '1' });
    kept.observe(7);
    const [first, , sum, count] = await series(histogram);
    expect([first, sum, count].map((each) => each?.[1])).to.deep.equal([0, 7, 1]);
  });

  it('uses the labels at the end of a timer in addition to its own', async () => {
    const { gauge, histogram, summary } = library();
    for (const metric of [gauge, histogram, summary]) {
      metric.labels({ n: '1' }).startTimer()({ m: '2' });
      const all = await series(metric);
      expect(all.at(-1)?.[0]).to.deep.equal({ n: '1', m: '2' });
    }
  });

  it('has methods that work without it', async () => {
    const { counter, gauge, histogram, summary } = library();
    const { inc } = counter.labels('1', '2');
    const { set } = gauge.labels('1', '2');
    const { observe } = histogram.labels('1', '2');
    const { startTimer } = summary.labels('1', '2');
    inc(3);
    set(4);
    observe(5);
    startTimer()();
    const values = await Promise.all([counter, gauge, histogram, summary].map(series));
    expect(values.map((all) => all.at(-1)?.[1])).to.deep.equal([3, 4, 1, 1]);
  });
});

describe('The children of a metric', () => {
  const { publishing, serve, settled, publishers } = freshPublications();
  const warning = () => {
    const warnings: string[] = [];
    return { warnings, warn: (sentence: string): void => void warnings.push(sentence) };
  };

  it('beyond the limit are not published, but counted, and one line says so', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register], maxChildren: 3 };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    counter.inc({ n: 1 });
    const { warnings, warn } = warning();
    const published = publishing({ register, warn });
    for (let n = 1; n <= 6; n++) counter.inc({ n });
    const served = serve();
    expect(shown(served).samples).to.have.lengthOf(3);
    expect(warnings).to.deep.equal([
      'the metric c_total has reached the limit 3 of its option maxChildren; further label values are not published',
    ]);
    expect(served.internal('shm_exporter_target_dropped_variables')).to.equal(3);
    counter.remove({ n: 1 });
    counter.inc({ n: 7 });
    await settled(published, served);
    expect(shown(served).samples).to.include('["c_total",[["n","7"]],1]');
  });

  it('beyond the limit are counted at each update, and come alive once there is room', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register], maxChildren: 1 };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    counter.inc({ n: 1 });
    const { warnings, warn } = warning();
    const published = publishing({ register, warn });
    const [kept, other] = [counter.labels('2'), counter.labels('2')];
    for (let n = 0; n < 5; n++) kept.inc();
    const served = serve();
    expect(served.internal('shm_exporter_target_dropped_variables')).to.equal(5);
    counter.remove({ n: 1 });
    kept.inc(3);
    other.inc(4);
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["c_total",[["n","2"]],7]']);
    counter.remove({ n: 2 });
    for (const each of [kept, other]) each.inc();
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal([]);
    expect(warnings).to.have.lengthOf(1);
  });

  it('beyond the limit are named on stderr, also without a publication', () => {
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [], maxChildren: 1 };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    const lines: unknown[] = [];
    const { error } = console;
    console.error = (line: unknown) => void lines.push(line);
    try {
      for (let n = 0; n < 5; n++) counter.inc({ n });
    } finally {
      console.error = error;
    }
    expect(lines).to.deep.equal([
      'shm-publisher: the metric c_total has reached the limit 1 of its option maxChildren; further label values are not published',
    ]);
  });

  it('come back after many others were reset, although the metric forgot them', async () => {
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [], maxChildren: 2 };
    const gauge = new ours.Gauge({ name: 'g', ...own });
    const kept = gauge.labels('0');
    for (let n = 0; n < 20; n++) {
      gauge.set({ n }, n);
      gauge.reset();
    }
    kept.set(7);
    gauge.inc({ n: 0 });
    expect((await gauge.get()).values).to.deep.equal([{ labels: { n: '0' }, value: 8 }]);
  });

  it('have the name of their metric also after a registry of prom-client renamed it', () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const counter = new ours.Counter({ name: 'c_total', ...own });
    publishing({ register });
    Object.assign(counter, { name: 'c' });
    counter.inc({ n: 1 });
    expect(shown(serve()).samples).to.deep.equal(['["c_total",[["n","1"]],1]']);
  });

  it('without room in the segment are published once there is room', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const gauge = new ours.Gauge({ name: 'full', maxChildren: 10_000, ...own });
    for (let n = 0; n < 5000; n++) gauge.set({ n }, n);
    const { warnings, warn } = warning();
    const published = publishing({ register, warn });
    const served = serve();
    const placed = shown(served).samples.length;
    expect(placed).to.be.within(1000, 4999);
    expect(served.internal('shm_exporter_target_dropped_variables')).to.equal(5000 - placed);
    expect(warnings).to.deep.equal([
      'the metric full has no room in the segment for all children; see capacity',
    ]);
    for (let n = 0; n < 4500; n++) gauge.remove(String(n));
    await settled(published, served);
    expect(shown(served).samples).to.have.lengthOf(500);
    expect(served.internal('shm_exporter_target_dropped_variables')).to.equal(0);
  });

  it('keep their variables if the metric is reset and they are set again before the program awaits', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const gauge = new ours.Gauge({ name: 'g', ...own });
    const histogram = new ours.Histogram({ name: 'h', buckets: [1], ...own });
    for (let n = 0; n < 100; n++) gauge.set({ n }, n);
    histogram.observe({ n: 1 }, 7);
    const published = publishing({ register });
    const served = serve();
    const directory = (): bigint =>
      readFileSync(`/dev/shm/${publishers.contextId}.pool.82`).readBigUInt64LE(
        MUTABLE_OFFSET + MUTABLE.directory,
      );
    const before = directory();
    register.resetMetrics();
    for (let n = 0; n < 100; n++) gauge.set({ n }, n + 1);
    histogram.observe({ n: 1 }, 0.5);
    expect(directory()).to.equal(before);
    await settled(published, served);
    expect(directory()).to.equal(before);
    const { samples } = shown(served);
    expect(samples).to.include.members(['["g",[["n","0"]],1]', '["g",[["n","99"]],100]']);
    expect(samples).to.include.members(['["h_sum",[["n","1"]],0.5]', '["h_count",[["n","1"]],1]']);
    expect(samples).to.have.lengthOf(104);
    register.resetMetrics();
    gauge.set({ n: 7 }, 8);
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["g",[["n","7"]],8]']);
  });

  it('are shown once if the metric is reset, and they are removed and set again before the program awaits', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register], maxChildren: 2 };
    let gauge = new ours.Gauge({ name: 'g', ...own });
    for (let n = 0; n < 2; n++) gauge.set({ n }, n);
    const published = publishing({ register });
    const served = serve();
    const names = (): readonly string[] => {
      const file = segmentName(publishers.contextId, 'pool', '82');
      const poller = new SegmentPoller(posixMemory(), file, '82');
      const roots = poller.poll().source?.roots ?? [];
      const variables = [...roots].flatMap((root) => [...root.variables].map(({ name }) => name));
      poller.close();
      return variables;
    };
    const again: readonly (() => void)[] = [
      () => {
        gauge.remove({ n: 0 });
      },
      () => {
        gauge.clear();
      },
      // The metric forgets the children that were dropped first.
      () => {
        for (let n = 2; n < 8; n++) {
          gauge.set({ n }, n);
          gauge.reset();
        }
      },
      () => {
        register.removeSingleMetric('g');
        gauge = new ours.Gauge({ name: 'g', ...own });
      },
      () => {
        register.setDefaultLabels({ shop: 'north' });
      },
    ];
    for (const [index, change] of again.entries()) {
      gauge.reset();
      change();
      for (let n = 0; n < 2; n++) gauge.set({ n }, n + index);
      const defaults = index === 4 ? ',["shop","north"]' : '';
      const expected = [0, 1].map((n) => `["g",[["n","${n}"]${defaults}],${n + index}]`);
      const now = names();
      expect(new Set(now), `change ${index}`).to.have.property('size', now.length);
      await settled(published, served);
      expect(shown(served).samples, `change ${index}`).to.deep.equal(expected);
    }
  });

  it('get the room of others that were reset before them', async () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const gauge = new ours.Gauge({ name: 'full', ...own });
    const capacity = { records: 256, stringBytes: 65_536, slots: 100, frameBytes: 4096 };
    const published = publishing({ register, capacity });
    const served = serve();
    for (let round = 0; round < 3; round++) {
      gauge.reset();
      for (let n = 0; n < 90; n++) gauge.set({ n: `${round}.${n}` }, n);
      expect(served.internal('shm_exporter_target_dropped_variables')).to.equal(0);
      await settled(published, served);
      expect(shown(served).samples).to.have.lengthOf(90);
    }
  });

  it('are left out if their labels are too long, and a line names the metric', () => {
    const register = new ours.Registry();
    const own = { help: 'H.', labelNames: ['n'] as const, registers: [register] };
    const { warnings, warn } = warning();
    publishing({ register, warn });
    const gauge = new ours.Gauge({ name: 'long', ...own });
    gauge.set({ n: 'x'.repeat(5000) }, 1);
    gauge.set({ n: 'short' }, 1);
    expect(shown(serve()).samples).to.deep.equal(['["long",[["n","short"]],1]']);
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(/^the metric long leaves out a child: .*4096 bytes/);
  });
});

describe('A metric with a function collect', () => {
  const { publishing, serve, settled } = freshPublications();

  it('is shown with collected values from the start, and collected again by update()', async () => {
    const register = new ours.Registry();
    let value = 7;
    const collect = function (this: ours.Gauge): void {
      this.set(value);
    };
    new ours.Gauge({ name: 'g', help: 'H.', registers: [register], collect });
    const published = publishing({ register });
    const served = serve();
    expect(shown(served).samples).to.deep.equal(['["g",[],7]']);
    value = 8;
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["g",[],8]']);
  });

  it('is shown once its first call has ended, and does not delay the others', async () => {
    const register = new ours.Registry();
    let end = (): void => undefined;
    let hasEnded = false;
    const collect = async function (this: ours.Gauge): Promise<void> {
      if (!hasEnded) await new Promise<void>((resolve) => (end = resolve));
      this.set(3);
    };
    new ours.Gauge({ name: 'slow', help: 'H.', registers: [register], collect });
    new ours.Gauge({ name: 'quick', help: 'H.', registers: [register] });
    const published = publishing({ register });
    const served = serve();
    expect(shown(served).samples).to.deep.equal(['["quick",[],0]']);
    hasEnded = true;
    end();
    await settled(published, served);
    expect(shown(served).samples).to.have.lengthOf(2);
  });

  it('keeps its last values if the function fails, and one line says so', async () => {
    const register = new ours.Registry();
    let fails = false;
    const collect = function (this: ours.Gauge): void {
      if (fails) throw new Error('no database');
      this.set(3);
    };
    new ours.Gauge({ name: 'g', help: 'H.', registers: [register], collect });
    const warnings: string[] = [];
    const published = publishing({ register, warn: (sentence) => void warnings.push(sentence) });
    fails = true;
    const served = serve();
    await settled(published, served);
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["g",[],3]']);
    expect(warnings).to.deep.equal(['the metric g cannot be collected: Error: no database']);
  });

  it('is shown although its first call fails', () => {
    const register = new ours.Registry();
    const collect = (): void => {
      throw new Error('no database');
    };
    new ours.Gauge({ name: 'g', help: 'H.', registers: [register], collect });
    publishing({ register, warn: () => undefined });
    expect(shown(serve()).samples).to.deep.equal(['["g",[],0]']);
  });

  it('is called at most once more after many calls of update()', async () => {
    const register = new ours.Registry();
    const ends: (() => void)[] = [];
    const collect = (): Promise<void> => new Promise<void>((resolve) => ends.push(resolve));
    new ours.Gauge({ name: 'slow', help: 'H.', registers: [register], collect });
    const published = publishing({ register });
    const updates = [published.update(), published.update(), published.update()];
    expect(ends).to.have.lengthOf(1);
    ends[0]?.();
    await waitFor('the next call', () => (ends.length > 1 ? true : undefined));
    published.close();
    ends[1]?.();
    await Promise.all(updates);
    expect(ends).to.have.lengthOf(2);
  });

  it('is called again if a call does not end, is shown meanwhile, and one line names it', async () => {
    const register = new ours.Registry();
    let calls = 0;
    const collect = (): Promise<void> => {
      calls++;
      return new Promise(() => undefined);
    };
    new ours.Gauge({ name: 'hangs', help: 'H.', registers: [register], collect });
    const theirsToo = new theirs.Gauge({ name: 'copied', help: 'H.', registers: [], collect });
    register.registerMetric(theirsToo as unknown as Parameters<typeof register.registerMetric>[0]);
    const warnings: string[] = [];
    const warn = (sentence: string): void => void warnings.push(sentence);
    const published = publishing({ register, intervalMs: 10, warn });
    await published.update();
    await waitFor('further calls', () => (calls > 6 ? true : undefined));
    expect(warnings.map((line) => line.replace(/\d+ ms$/, '30 ms'))).to.have.members([
      'the metric hangs cannot be collected: Error: collect has not ended after 30 ms',
      'the metric copied cannot be collected: Error: get has not ended after 30 ms',
    ]);
    expect(shown(serve()).samples).to.deep.equal(['["hangs",[],0]']);
  });

  it('may use a variable that is assigned after the metric was made', async () => {
    const register = new ours.Registry();
    const published = publishing({ register });
    const gauge: ours.Gauge = new ours.Gauge({
      ...{ name: 'g', help: 'H.', registers: [register] },
      collect: () => {
        gauge.set(5);
      },
    });
    const served = serve();
    await settled(published, served);
    expect(shown(served).samples).to.deep.equal(['["g",[],5]']);
  });
});

// Tests that a registry of prom-client is shown as the registry itself shows it.
import { expect } from 'chai';
import * as prom from 'prom-client';
import { Counter, Gauge, Histogram, Registry, Summary, collectDefaultMetrics } from 'prom-client';
import { publishRegistry } from '#app/native/publisher/library.js';
import type { PublishedRegistry } from '#app/native/publisher/library.js';
import { contentOf, shown } from '../../support/page-content.js';
import { waitFor } from '../../support/processes.js';
import { freshServed } from '../../support/served.js';

const CAPACITY = { records: 4096, stringBytes: 262_144, slots: 4096, frameBytes: 262_144 };

describe('A published registry of prom-client', () => {
  const { publishers, serve } = freshServed();
  const published: PublishedRegistry[] = [];
  afterEach(() => {
    for (const each of published.splice(0)) each.close();
  });

  const publish = async (registry: Parameters<typeof publishRegistry>[0], warn = fail) => {
    const { contextId } = publishers;
    const options = { contextId, serverKey: '82', app: 'demo', capacity: CAPACITY };
    const made = await publishRegistry(registry, { ...options, intervalMs: 60_000, warn });
    published.push(made);
    return made;
  };
  const everyMetric = () => {
    const registers = [new Registry()] as [Registry];
    const labelNames = ['code', 'path'] as const;
    const own = { registers, labelNames };
    const counter = new Counter({ name: 'http_requests_total', help: 'Requests.', ...own });
    const gauge = new Gauge({ name: 'app:queue', help: 'Jobs.\nThat wait.', registers });
    const buckets = [0.5, 1, 10];
    const histogram = new Histogram({ name: 'delay', help: 'Delay.', buckets, ...own });
    const summary = new Summary({ name: 'size', help: 'Size.', percentiles: [0.5, 0.9], ...own });
    counter.inc({ code: 200, path: '/"a"\\' }, 3);
    counter.inc({ code: 500 });
    gauge.set(-1.5);
    for (const value of [0.1, 0.7, 7, 70]) {
      histogram.observe({ code: 200 }, value);
      summary.observe({ path: '/' }, value);
    }
    return { registry: registers[0], counter, gauge, histogram, summary };
  };

  it('has the same series, types and help texts', async () => {
    const { registry } = everyMetric();
    await publish(registry);
    expect(shown(serve())).to.deep.equal(contentOf(await registry.metrics()));
  });

  it('has the default labels of the registry', async () => {
    const { registry } = everyMetric();
    registry.setDefaultLabels({ shop: 'north' });
    await publish(registry);
    expect(shown(serve())).to.deep.equal(contentOf(await registry.metrics()));
  });

  it('follows values, series and metrics that come and go', async () => {
    const { registry, counter, gauge, histogram, summary } = everyMetric();
    const { update } = await publish(registry);
    const served = serve();
    const agrees = async () => {
      await update();
      served.clock.advance(2000);
      expect(shown(served)).to.deep.equal(contentOf(await registry.metrics()));
    };
    counter.inc({ code: 500 }, 2);
    histogram.observe({ code: 200 }, 0.2);
    histogram.observe({ code: 404 }, 3);
    summary.observe({ path: '/' }, 100);
    await agrees();
    counter.remove({ code: 500 });
    histogram.reset();
    gauge.set(Infinity);
    await agrees();
    registry.removeSingleMetric('http_requests_total');
    new Gauge({ name: 'late', help: 'Late.', registers: [registry] }).set(1);
    await agrees();
  });

  it('has the default metrics of the process', async () => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    await publish(register);
    const { headers } = shown(serve());
    expect(headers).to.deep.equal(contentOf(await register.metrics()).headers);
    expect(headers.join()).to.contain('process_resident_memory_bytes');
  });

  it('keeps the last values if the registry fails, and says so once', async () => {
    const { registry } = everyMetric();
    const warnings: string[] = [];
    let fails = false;
    const failing = {
      getMetricsAsJSON: async () => {
        if (fails) throw new Error('no database');
        return registry.getMetricsAsJSON();
      },
    };
    const { update } = await publish(failing, (sentence) => void warnings.push(sentence));
    fails = true;
    await update();
    await update();
    expect(warnings).to.deep.equal([
      'the metrics of the registry cannot be collected: Error: no database',
    ]);
    expect(shown(serve())).to.deep.equal(contentOf(await registry.metrics()));
  });

  it('has new values of the other metrics if the function collect of one fails, and names this one', async () => {
    const { registry, counter } = everyMetric();
    registry.setDefaultLabels({ shop: 'north' });
    let fails = false;
    new Gauge({
      ...{ name: 'jobs', help: 'Jobs.', registers: [registry] },
      collect() {
        if (fails) throw new Error('no database');
        this.set(1);
      },
    });
    const warnings: string[] = [];
    const { update } = await publish(registry, (sentence) => void warnings.push(sentence));
    fails = true;
    counter.inc({ code: 500 });
    await update();
    await update();
    fails = false;
    expect(shown(serve())).to.deep.equal(contentOf(await registry.metrics()));
    expect(warnings).to.deep.equal(['the metric jobs cannot be collected: Error: no database']);
  });

  it('tells whether it has its server key', async () => {
    const published = await publish(everyMetric().registry);
    expect(published.holdsKey).to.equal(true);
    published.close();
    expect(published.holdsKey).to.equal(false);
  });

  it('calls no function of the registry after close()', async () => {
    let calls = 0;
    const published = await publish({ getMetricsAsJSON: () => ((calls += 1), []) });
    published.close();
    await published.update();
    expect(calls).to.equal(1);
  });

  for (const [what, register, message] of [
    [
      'the module prom-client',
      prom,
      'register: found the module prom-client (write prom.register)',
    ],
    ['nothing', undefined, 'register: found nothing, allowed: a registry of prom-client'],
    ['no registry', { register: {} }, 'register: found an object, allowed: a registry of prom-cl'],
  ] as const)
    it(`is refused if the argument is ${what}`, async () => {
      const error = await publish(register as never).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(RangeError);
      expect(String(error)).to.contain(`publishRegistry: ${message}`);
    });

  it('is refused without options, and the error names the argument', async () => {
    const error = await publishRegistry(new Registry(), undefined as never).catch(String);
    expect(error).to.contain('publishRegistry: options: found nothing, allowed: an object with op');
  });

  it('leaves out a metric that the format does not allow, and names it once', async () => {
    const { registry } = everyMetric();
    const expected = contentOf(await registry.metrics());
    const own = { registers: [registry], labelNames: ['__own'] };
    const hidden = new Gauge({ name: 'hidden', help: 'Hidden.', ...own });
    hidden.set({ __own: '1' }, 1);
    hidden.set({ __own: '2' }, 1);
    const warnings: string[] = [];
    const { update } = await publish(registry, (sentence) => void warnings.push(sentence));
    await update();
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.match(
      /^metric hidden of the registry is left out: .*"__own", allowed: /,
    );
    expect(shown(serve())).to.deep.equal(expected);
  });

  it('publishes the other metrics if one has invalid values, and again once these are valid', async () => {
    const { registry } = everyMetric();
    const expected = contentOf(await registry.metrics());
    let count = 0.5;
    const own = {
      getMetricsAsJSON: async () => [
        {
          ...{ name: 'odd', help: 'Odd.', type: 'histogram' },
          values: [
            { labels: { le: '+Inf' }, value: count, metricName: 'odd_bucket' },
            { labels: {}, value: 1, metricName: 'odd_sum' },
            { labels: {}, value: count, metricName: 'odd_count' },
          ],
        },
        ...(await registry.getMetricsAsJSON()),
      ],
    };
    const warnings: string[] = [];
    const { update } = await publish(own, (sentence) => void warnings.push(sentence));
    expect(warnings.join()).to.match(/^metric odd of the registry is left out: .*0\.5/);
    const served = serve();
    expect(shown(served).samples).to.include.members(expected.samples);
    count = 2;
    await update();
    served.clock.advance(2000);
    expect(shown(served).samples).to.include('["odd_count",[],2]');
  });

  it('publishes a series once there is room for it', async () => {
    const registry = new Registry();
    const gauge = new Gauge({ name: 'full', help: 'F.', labelNames: ['n'], registers: [registry] });
    for (let number = 0; number < 5000; number++) gauge.set({ n: number }, number);
    const { update } = await publish(registry);
    const served = serve();
    const count = () => shown(served).samples.length;
    expect(count()).to.be.within(1000, 4999);
    gauge.reset();
    gauge.set({ n: 'last' }, 1);
    await update();
    served.clock.advance(2000);
    expect(shown(served).samples).to.deep.equal(['["full",[["n","last"]],1]']);
  });

  it('is shown again after calls that did not end, and one line says so', async () => {
    const warnings: string[] = [];
    let calls = 0;
    const registry = new Registry();
    new Gauge({ name: 'g', help: 'H.', registers: [registry] }).set(7);
    const never = new Promise<[]>(() => undefined);
    const made = await publishRegistry(
      { getMetricsAsJSON: () => (calls++ < 3 ? never : registry.getMetricsAsJSON()) },
      {
        ...{ contextId: publishers.contextId, serverKey: '82', app: 'demo', intervalMs: 10 },
        warn: (sentence) => void warnings.push(sentence),
      },
    );
    published.push(made);
    await waitFor('another call', () => (calls > 3 ? true : undefined));
    await made.update();
    expect(warnings).to.deep.equal([
      'the metrics of the registry cannot be collected: Error: getMetricsAsJSON has not ended after 30 ms',
    ]);
    expect(shown(serve()).samples).to.deep.equal(['["g",[],7]']);
  });

  it('refuses wrong options and names them', async () => {
    const refused = async (options: Record<string, unknown>): Promise<string> =>
      publishRegistry(new Registry(), { serverKey: '82', app: 'demo', ...options }).then(
        () => 'accepted',
        (error: unknown) => String(error),
      );
    expect(await refused({ app: '1' })).to.match(/^RangeError: publishRegistry: app: found "1"/);
    expect(await refused({ intervalMs: 0 })).to.contain('publishRegistry: intervalMs: found 0');
    expect(await refused({ interval: 5 })).to.contain('unknown option "interval"');
  });
});

function fail(sentence: string): void {
  expect.fail(sentence);
}

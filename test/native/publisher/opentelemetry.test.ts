// Compares published metrics of an OpenTelemetry SDK with the page of OpenTelemetry's exporter for Prometheus.
import { expect } from 'chai';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { ShmMetricReader } from '#app/native/publisher/opentelemetry.js';
import type { ShmMetricReaderOptions } from '#app/native/publisher/opentelemetry.js';
import { contentOf, shown } from '../../support/page-content.js';
import { freshServed } from '../../support/served.js';

/** Collects for the serializer of OpenTelemetry. */
class Collecting extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const CAPACITY = { records: 1024, stringBytes: 65_536, slots: 1024, frameBytes: 65_536 };

describe('The metrics of an OpenTelemetry SDK', () => {
  const { publishers, serve } = freshServed();
  const providers: MeterProvider[] = [];
  afterEach(async () => {
    for (const provider of providers.splice(0)) await provider.shutdown();
  });

  const provide = (options: Partial<ShmMetricReaderOptions> = {}) => {
    const reader = new ShmMetricReader({
      ...{ contextId: publishers.contextId, serverKey: '82', app: 'demo', capacity: CAPACITY },
      ...{ intervalMs: 60_000, ...options },
    });
    const other = new Collecting();
    const provider = new MeterProvider({ readers: [reader, other] });
    providers.push(provider);
    const expected = async () => {
      const { prefix, withoutTargetInfo, withoutScopeInfo } = options;
      const serializer = new PrometheusSerializer(
        prefix,
        false,
        options.withResourceConstantLabels,
        withoutTargetInfo,
        withoutScopeInfo,
      );
      const { resourceMetrics } = await other.collect();
      // The serializer writes `# UNIT`, which text 0.0.4 does not have.
      return contentOf(serializer.serialize(resourceMetrics).replace(/^# UNIT .*\n/gm, '') + '\n');
    };
    return { provider, expected };
  };
  /** An update of every kind of instrument. */
  const update = (provider: MeterProvider): void => {
    const meter = provider.getMeter('shop', '1.2');
    meter.createCounter('http.requests', { unit: '1' }).add(3, { 'http.code': 200, secure: true });
    meter.createCounter('jobs_total', { description: 'Jobs.' }).add(1.5);
    meter.createUpDownCounter('open-sessions').add(-2, { room: 'a "b" \\ c' });
    meter.createGauge('temperature', { unit: 'Cel' }).record(21.5);
    const seconds = meter.createHistogram('latency', { unit: 's', description: 'Latency.' });
    for (const value of [0.2, 7, 70_000]) seconds.record(value, { list: ['a', 'b'] });
    meter.createObservableGauge('queue').addCallback((result) => {
      result.observe(5, { name: 'main' });
    });
  };

  for (const options of [
    {},
    { prefix: 'shop' },
    { withoutScopeInfo: true, withoutTargetInfo: true },
    { withResourceConstantLabels: /^service/ },
  ])
    it(`are shown as OpenTelemetry's exporter shows them with the options ${Object.keys(options).join(', ') || 'of default'}`, async () => {
      const { provider, expected } = provide(options);
      update(provider);
      await provider.forceFlush();
      const served = serve();
      expect(shown(served)).to.deep.equal(await expected());
      update(provider);
      await provider.forceFlush();
      served.clock.advance(2000);
      expect(shown(served)).to.deep.equal(await expected());
    });

  it('have units in their names if unitSuffixes is set', async () => {
    const { provider } = provide({ unitSuffixes: true, withoutScopeInfo: true });
    update(provider);
    const meter = provider.getMeter('shop');
    meter.createCounter('sent', { unit: 'By' }).add(1);
    meter.createGauge('speed', { unit: 'm/s' }).record(1);
    meter.createGauge('used', { unit: '1' }).record(0.5);
    meter.createCounter('answers', { unit: '{answer}' }).add(1);
    await provider.forceFlush();
    const names = shown(serve())
      .headers.filter((header) => header.startsWith('# TYPE'))
      .map((header) => header.split(' ')[2]);
    expect(names).to.have.members([
      ...['answers_total', 'http_requests_total', 'jobs_total', 'latency_seconds'],
      ...['open_sessions', 'queue', 'sent_bytes_total', 'speed_meters_per_second', 'target_info'],
      ...['temperature_celsius', 'used_ratio'],
    ]);
  });

  it('are refused with wrong options, by their names', () => {
    const refused = (options: object) => () =>
      new ShmMetricReader({ serverKey: '82', app: 'demo', ...options });
    expect(refused({ app: '1' })).to.throw(RangeError, 'ShmMetricReader: app: found "1"');
    expect(refused({ unitSuffix: true })).to.throw(RangeError, 'unknown option "unitSuffix"');
  });
});

// The exporter's metrics about the process, its sinks and all targets, collected with prom-client.
import { performance } from 'node:perf_hooks';
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { PUBLISHER_STATES } from '../model.js';
import type { InternalMetric, Target } from '../model.js';
import { IDENTITY, identitiesOf } from './sink.js';
import type { IdentityLabels } from './sink.js';

/** The name, type and help text of an internal metric. */
export type InternalFamily = Omit<InternalMetric, 'value'>;

/** The name prefix of the exporter's own metrics. Metrics of applications never have it. */
const OWN_PREFIX = 'shm_exporter_';

export class SelfMetrics {
  readonly #registry = new Registry();
  readonly #publishers: Gauge;
  readonly #targets: Gauge;
  /** Internal metrics of the targets by name. */
  readonly #internal = new Map<string, Counter | Gauge>();

  /** @param internal the internal metrics of targets, in the order of the page */
  constructor(internal: readonly InternalFamily[] = []) {
    const registers = [this.#registry];
    processMetrics(this.#registry);
    this.#publishers = new Gauge({
      name: 'shm_exporter_publisher_state',
      help: 'State of the publisher of a target, one series per state.',
      labelNames: [...IDENTITY, 'state'],
      registers,
    });
    this.#targets = new Gauge({
      name: 'shm_exporter_target_info',
      help: 'What a target shows and where it runs; always 1.',
      labelNames: [...IDENTITY, 'root', 'partition'],
      registers,
    });
    for (const family of internal) this.#register(family);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /**
   * Adds a counter for a sink, and returns the function that increments it.
   * @param label the values of its label, if it has one. Each value gets a series with 0 at once, because `rate` and
   *   `increase` miss the increment that creates a series
   */
  counter(
    name: string,
    help: string,
    label: Readonly<Record<string, readonly string[]>> = {},
  ): (by: number, labels?: IdentityLabels) => void {
    const registers = [this.#registry];
    const counter = new Counter({ name, help, labelNames: Object.keys(label), registers });
    for (const [key, values] of Object.entries(label))
      for (const value of values) counter.inc({ [key]: value }, 0);
    return (by, labels = {}) => {
      counter.inc(labels, by);
    };
  }

  /** Adds a gauge, and returns the function that sets it. */
  gauge(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
  ): (value: number, labels?: IdentityLabels) => void {
    const gauge = new Gauge({ name, help, labelNames, registers: [this.#registry] });
    return (value, labels = {}) => {
      gauge.set(labels, value);
    };
  }

  /** All metrics in text format 0.0.4. The internal metrics of a target have the target's identity labels. */
  async text(targets: readonly Target[]): Promise<string> {
    return `${(await this.#texts(targets)).join('\n\n')}\n`;
  }

  /** Only the metrics with the exporter's prefix. Names such as `process_cpu_seconds_total` occur in other processes too. */
  async ownText(targets: readonly Target[]): Promise<string> {
    return (await this.#texts(targets, OWN_PREFIX)).map((text) => `${text}\n`).join('');
  }

  /** The texts of all metrics with a name prefix. Omits internal metrics that no target has. */
  async #texts(targets: readonly Target[], prefix = ''): Promise<readonly string[]> {
    const shown = this.#collectAll(targets);
    const names = this.#registry
      .getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith(prefix) && (shown.has(name) || !this.#internal.has(name)));
    return Promise.all(names.map((name) => this.#registry.getSingleMetricAsString(name)));
  }

  /** Returns the names of the internal metrics that have a value. */
  #collectAll(targets: readonly Target[]): ReadonlySet<string> {
    const shown = new Set<string>();
    // Remove the series of removed targets and of old label values.
    for (const metric of [...this.#internal.values(), this.#publishers, this.#targets])
      metric.reset();
    for (const [target, identity] of identitiesOf(targets)) this.#collect(target, identity, shown);
    return shown;
  }

  #collect(target: Target, identity: IdentityLabels, shown: Set<string>): void {
    const { root, partition, publisher } = target.status();
    for (const metric of target.internal()) {
      this.#set(metric, identity);
      shown.add(metric.name);
    }
    for (const state of PUBLISHER_STATES)
      this.#publishers.set({ ...identity, state }, Number(state === publisher.state));
    this.#targets.set({ ...identity, ...(root && { root }), partition: String(partition) }, 1);
  }

  #register({ name, type, help, labels = {} }: InternalFamily): Counter | Gauge {
    const labelNames = [...IDENTITY, ...Object.keys(labels)];
    const options = { name, help, labelNames, registers: [this.#registry] };
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options);
    this.#internal.set(name, metric);
    return metric;
  }

  #set(internal: InternalMetric, identity: IdentityLabels): void {
    const metric = this.#internal.get(internal.name) ?? this.#register(internal);
    const { value, labels: own = {} } = internal;
    const shown = Object.entries(own).filter(([, text]) => text !== '');
    const labels = { ...identity, ...Object.fromEntries(shown) };
    // `#collectAll` has reset the counters, and no two targets share labels, so `inc` sets the value.
    if (metric instanceof Counter) metric.inc(labels, Number(value));
    else metric.set(labels, Number(value));
  }
}

/** The longest sampling interval, 25 days: each sample of the histogram for `LAG_STATISTICS` wakes up the process. */
const NEVER_MS = 0x7fffffff;
const LAG_STATISTICS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * Adds the default metrics of the process and Node.js. Replaces the event loop lag by the event loop utilization:
 * measuring the lag would wake up the process a hundred times a second, and Node.js counts the utilization anyway.
 */
function processMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const each of LAG_STATISTICS)
    registry.removeSingleMetric(`nodejs_eventloop_lag_${each}_seconds`);
  let last = performance.eventLoopUtilization();
  new Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'Share of the time since the last scrape in which the event loop was not idle.',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}

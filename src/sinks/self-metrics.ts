// The exporter's metrics about the process, its sinks and all targets. prom-client collects the default metrics.
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { DurationHistogram } from '../exposition/duration-histogram.js';
import {
  headerText,
  joinLabels,
  labelsText,
  numberText,
  seriesText,
} from '../exposition/text/text-syntax.js';
import { PUBLISHER_STATES } from '../model.js';
import type { FamilyMetadata, InternalMetric, MetricLevel, Target } from '../model.js';
import { runToEnd } from '../run-to-end.js';
import { identitiesOf } from './sink.js';
import type { IdentityLabels } from './sink.js';

const PUBLISHERS: FamilyMetadata = {
  name: 'shm_exporter_publisher_state',
  type: 'gauge',
  help: 'State of the publisher of a target, one series per state.',
  unit: '',
};
const TARGETS: FamilyMetadata = {
  name: 'shm_exporter_target_info',
  type: 'gauge',
  help: 'Root and partition of a target; always 1.',
  unit: '',
};

/** The metrics of the process and its sinks at the level `basic`. At this level, each has only its first series. */
const BASIC: ReadonlySet<string> = new Set([
  'process_start_time_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_utilization',
  'shm_exporter_build_info',
  'shm_exporter_license_expiry_timestamp_seconds',
  'shm_exporter_license_state',
  'shm_exporter_config_last_reload_successful',
  'shm_exporter_config_hash',
  'shm_exporter_web_config_last_reload_successful',
  'shm_exporter_certificate_expiry_timestamp_seconds',
  'shm_exporter_target_file_faulty',
  'shm_exporter_scopes_unmatched',
  'shm_exporter_discovered_targets',
  'shm_exporter_discovery_left_out',
  'shm_exporter_merged_clashing_metrics',
  'shm_exporter_http_cut_responses_total',
  'shm_exporter_http_dropped_connections_total',
]);
/** At the level `basic`, this metric has only the series of the present state, as that of publishers has. */
const LICENSE_STATE = 'shm_exporter_license_state';
/** The number of targets that `text` writes in one iteration of the event loop. */
const TARGETS_A_TURN = 8;

/** A metric. The map holds the value of each series; its keys are the name and labels of the series as text. */
interface OwnMetric extends FamilyMetadata {
  readonly values: Map<string, number>;
}

export class SelfMetrics {
  readonly #defaults = processMetrics();
  /** The metrics of targets, in the order of the page. */
  readonly #ofTargets: readonly FamilyMetadata[];
  /** The counters and gauges of the process and its sinks. */
  readonly #own: OwnMetric[] = [];
  readonly #level: MetricLevel;

  /**
   * @param internal the internal metrics of targets, in the order of the page. At the level `basic`, others are left
   *   out
   */
  constructor(internal: readonly FamilyMetadata[] = [], level: MetricLevel = 'full') {
    this.#ofTargets = [PUBLISHERS, TARGETS, ...internal];
    this.#level = level;
  }

  get contentType(): string {
    return this.#defaults.contentType;
  }

  /**
   * Adds a counter for a sink, and returns the function that increments it.
   * @param label the name and the values of its label, if it has one. Each value gets a series with 0 at once,
   *   because `rate` and `increase` miss the increment that creates a series
   */
  counter(
    name: string,
    help: string,
    label: Readonly<Record<string, readonly string[]>> = {},
  ): (by: number, labels?: IdentityLabels) => void {
    const values = this.#register({ name, type: 'counter', help, unit: '' }, Object.keys(label));
    const add = (by: number, labels: IdentityLabels = {}): void => {
      const series = seriesText(name, labelsText(labels, true));
      values.set(series, (values.get(series) ?? 0) + by);
    };
    for (const [key, all] of Object.entries(label))
      for (const value of all) add(0, { [key]: value });
    return add;
  }

  /** Adds a gauge, and returns the function that sets it. The value undefined removes the series. */
  gauge(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
  ): (value: number | undefined, labels?: IdentityLabels) => void {
    const values = this.#register({ name, type: 'gauge', help, unit: '' }, labelNames);
    return (value, labels = {}) => {
      const series = seriesText(name, labelsText(labels, true));
      if (value === undefined) values.delete(series);
      else values.set(series, value);
    };
  }

  /** Adds a histogram of durations in seconds, and returns the function that adds a duration in milliseconds. */
  histogram(name: string, help: string): (ms: number) => void {
    const histogram = new DurationHistogram();
    const family: FamilyMetadata = { name, type: 'histogram', help, unit: '' };
    const valueOf = ({ suffix = '', labels = {}, value }: InternalMetric) =>
      [seriesText(name + suffix, labelsText(labels)), Number(value)] as const;
    this.#own.push({
      ...family,
      get values() {
        return new Map(histogram.series(family).map(valueOf));
      },
    });
    return (ms) => {
      histogram.add(ms);
    };
  }

  /** All metrics in text format 0.0.4. The internal metrics of a target have the target's identity labels. */
  async text(targets: readonly Target[]): Promise<string> {
    const steps = this.#texts(targets);
    for (let number = 1; ; number++) {
      const { done, value } = steps.next();
      if (done === true) return [await this.#defaultsText(), ...value].join('\n');
      // Other clients are served meanwhile.
      if (number % TARGETS_A_TURN === 0) await setImmediate();
    }
  }

  /**
   * All metrics except those of prom-client. Other processes also have metrics such as `process_cpu_seconds_total`.
   */
  ownText(targets: readonly Target[]): string {
    return runToEnd(this.#texts(targets)).join('');
  }

  /**
   * The texts of all metrics except those of prom-client; a step is a target. Omits internal metrics that no target
   * has.
   */
  *#texts(targets: readonly Target[]): Generator<void, readonly string[]> {
    const isFull = this.#level === 'full';
    const families = new Map(
      this.#ofTargets.map((family) => [family.name, newFamily(family)] as const),
    );
    const add = (
      family: InternalMetric | FamilyMetadata,
      suffix: string,
      labels: string,
      value: number,
    ): void => {
      const known = families.get(family.name) ?? newFamily(family);
      families.set(family.name, known);
      known.lines.push(lineOf(seriesText(family.name + suffix, labels), value));
    };
    for (const [target, identity] of identitiesOf(targets)) {
      const { root, partition, publisher } = target.status();
      const own = labelsText(identity);
      for (const metric of [...target.internal(), ...target.internalDetails()]) {
        const { name, suffix = '', labels = {}, value } = metric;
        if (isFull || families.has(name))
          add(metric, suffix, joinLabels(own, labelsText(labels)), Number(value));
      }
      for (const state of PUBLISHER_STATES)
        if (isFull || state === publisher.state)
          add(
            PUBLISHERS,
            '',
            joinLabels(own, labelsText({ state })),
            Number(state === publisher.state),
          );
      const place = labelsText({ root, partition: String(partition) });
      add(TARGETS, '', joinLabels(own, place), 1);
      yield;
    }
    const shown = [...families.values()]
      .filter(({ lines }) => lines.length > 0)
      .map(({ family, lines }) => headerText(family) + lines.join(''));
    if (isFull) return [...shown, ...this.#own.map(textOf)];
    const own = this.#own.filter(({ name }) => this.#hasOwn(name)).map(withPresentState);
    return [...shown, ...own.map(withFirstSeries).map(textOf)];
  }

  /** Whether the level has a metric of the process or a sink. */
  #hasOwn(name: string): boolean {
    return this.#level === 'full' || BASIC.has(name);
  }

  /** The metrics of prom-client that the level has. */
  async #defaultsText(): Promise<string> {
    const text = await this.#defaults.metrics();
    const families = text.split(/^(?=# HELP )/m);
    return families.filter((family) => this.#hasOwn(family.split(' ', 3)[2] ?? '')).join('');
  }

  /** A counter or gauge without labels starts at 0. */
  #register(family: FamilyMetadata, labelNames: readonly string[]): OwnMetric['values'] {
    const values = new Map<string, number>(labelNames.length === 0 ? [[family.name, 0]] : []);
    this.#own.push({ ...family, values });
    return values;
  }
}

const newFamily = (metadata: Omit<FamilyMetadata, 'unit'>) => ({
  family: { unit: '', ...metadata },
  lines: [] as string[],
});

const withPresentState = (metric: OwnMetric): OwnMetric =>
  metric.name === LICENSE_STATE
    ? { ...metric, values: new Map([...metric.values].filter(([, value]) => value > 0)) }
    : metric;

const withFirstSeries = (metric: OwnMetric): OwnMetric => ({
  ...metric,
  values: new Map([...metric.values].slice(0, 1)),
});

function textOf({ values, ...metadata }: OwnMetric): string {
  let text = headerText(metadata);
  for (const [series, value] of values) text += lineOf(series, value);
  return text;
}

const lineOf = (series: string, value: number): string => `${series} ${numberText(value)}\n`;

/**
 * The longest possible sampling interval, 25 days. Only the metrics of `LAG_STATISTICS`, which are removed, use the
 * samples, and each sample wakes up the process.
 */
const NEVER_MS = 0x7fffffff;
const LAG_STATISTICS = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/**
 * Makes a registry with the default metrics of the process and Node.js. Replaces the event loop lag by the event loop
 * utilization: measuring the lag would wake up the process a hundred times a second, but Node.js always counts the
 * utilization.
 */
function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const each of LAG_STATISTICS)
    registry.removeSingleMetric(`nodejs_eventloop_lag_${each}_seconds`);
  let last = performance.eventLoopUtilization();
  new Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'Share of the time since the last scrape during which the event loop was busy.',
    registers: [registry],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
  return registry;
}

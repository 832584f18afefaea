// Publishes the metrics of a registry of prom-client, so that the exporter shows what the registry would.
import { hostname } from 'node:os';
import { clearInterval, setInterval } from 'node:timers';
import { application } from '../../rules/formats.js';
import { checkValue } from '../../rules/options.js';
import { integer } from '../../rules/rule.js';
import type { PublishedValues } from './published-values.js';
import { Publisher, warnOnStderr } from './publisher.js';
import type { PublishedObject, PublisherOptions } from './publisher-options.js';

/** The part of a `Registry` of prom-client that `publishRegistry` needs. */
export interface MetricsRegistry {
  getMetricsAsJSON: () => readonly RegistryMetric[] | PromiseLike<readonly RegistryMetric[]>;
}

interface RegistryMetric {
  readonly name: string;
  readonly help: string;
  /** The text `counter`, `gauge`, `histogram` or `summary`, although the types of prom-client state a number. */
  readonly type: unknown;
  readonly values: readonly RegistryValue[];
}

interface RegistryValue {
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  /** The name of the series, if it differs from that of the metric. */
  readonly metricName?: string;
}

export interface RegistryOptions extends Omit<PublisherOptions, 'series'> {
  /** The name of the application, by which the exporter selects the target. */
  readonly app: string;
  /** Milliseconds between two updates. Default 5000. */
  readonly intervalMs?: number;
}

export interface PublishedRegistry {
  /** Collects the metrics of the registry and publishes them now. If that fails, the last values stay. */
  update: () => Promise<void>;
  /** Ends the updates, and closes the segment. */
  close: () => void;
}

type Labels = Readonly<Record<string, string>>;

/** A series of the registry: a number, or all values of a histogram or summary. */
interface RegistrySeries {
  readonly labels: Labels;
  /** By `le` or `quantile`; the key of a number is an empty text. */
  readonly values: Map<string, number>;
  sum: number;
  count: number;
}

/** A published series. */
interface Published {
  readonly handle: PublishedValues[keyof PublishedValues];
  readonly set: (series: RegistrySeries) => void;
}

const MAX_INTERVAL_MS = 2 ** 31 - 1;
const interval = integer(1, MAX_INTERVAL_MS);

/**
 * Publishes the metrics of a registry, and updates them at an interval, until the process ends or `close()`. The timers
 * do not keep the process alive. Resolves once the segment is visible, or waits for its server key.
 * @param register a registry of prom-client
 * @throws RangeError for an option that is unknown, invalid or missing
 * @throws Fault as the constructor and `place()` of `Publisher` do
 */
export async function publishRegistry(
  register: MetricsRegistry,
  options: RegistryOptions,
): Promise<PublishedRegistry> {
  const { app, intervalMs = 5000, ...own } = options;
  checkValue('publishRegistry: app', app, application);
  checkValue('publishRegistry: intervalMs', intervalMs, interval);
  const publisher = new Publisher({ ...own, series: true });
  const { warn = warnOnStderr } = own;
  const id = [hostname().replaceAll('.', '_'), String(own.pid ?? process.pid), app].join('.');
  const mirror = new RegistryMirror(publisher, publisher.addRoot(id, 'Registry'), warn);
  let last = Promise.resolve();
  let open = 0;
  const update = (): Promise<void> => {
    open++;
    return (last = last.then(collected).finally(() => {
      open--;
    }));
  };
  const collected = async (): Promise<void> => {
    try {
      mirror.take(await register.getMetricsAsJSON());
      publisher.notify();
    } catch (error) {
      mirror.warnOnce('', `the metrics of the registry cannot be collected: ${String(error)}`);
    }
  };
  const tick = (): void => {
    if (open === 0) void update();
  };
  const timers = [setInterval(tick, intervalMs)];
  if (publisher.heartbeatMs > 0)
    timers.push(setInterval(() => publisher.beat(), publisher.heartbeatMs));
  for (const timer of timers) timer.unref();
  const close = (): void => {
    for (const timer of timers) clearInterval(timer);
    process.removeListener('exit', close);
    publisher.close();
  };
  process.once('exit', close);
  try {
    await update();
    publisher.place();
  } catch (error) {
    close();
    throw error;
  }
  return { update, close };
}

/** Keeps the variables of a publisher equal to the series of a registry. */
class RegistryMirror {
  readonly #publisher: Publisher;
  readonly #root: PublishedObject;
  readonly #warn: (sentence: string) => void;
  /** The published series by name, type, bounds and labels. */
  readonly #published = new Map<string, Published>();
  readonly #warned = new Set<string>();

  constructor(publisher: Publisher, root: PublishedObject, warn: (sentence: string) => void) {
    this.#publisher = publisher;
    this.#root = root;
    this.#warn = warn;
  }

  /** Removes the series that are gone, and publishes the values of the others. */
  take(metrics: readonly RegistryMetric[]): void {
    const wanted = new Map<string, () => void>();
    for (const metric of metrics)
      for (const series of seriesOf(metric)) {
        const schema = schemaOf(metric.type, series);
        const key = JSON.stringify([metric.name, metric.type, schema, series.labels]);
        wanted.set(key, () => this.#publish(key, metric, series, schema));
      }
    for (const [key, { handle }] of this.#published)
      if (!wanted.has(key)) {
        this.#publisher.removeVariable(handle);
        this.#published.delete(key);
      }
    // Series without room are tried again, and counted anew.
    this.#publisher.setDropped(0, 0);
    for (const publish of wanted.values()) publish();
  }

  /** Writes a warning, once for each subject. */
  warnOnce(subject: string, sentence: string): void {
    if (this.#warned.has(subject) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(subject);
    this.#warn(sentence);
  }

  #publish(
    key: string,
    metric: RegistryMetric,
    series: RegistrySeries,
    schema: readonly number[],
  ): void {
    try {
      const published = this.#published.get(key) ?? this.#add(metric, series, schema);
      if (published.handle.ref === undefined) return;
      this.#published.set(key, published);
      published.set(series);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const { name } = metric;
      this.warnOnce(name, `metric ${name} of the registry is left out: ${error.message}`);
    }
  }

  #add(
    { name, help, type }: RegistryMetric,
    { labels }: RegistrySeries,
    schema: readonly number[],
  ): Published {
    const [publisher, root] = [this.#publisher, this.#root];
    const options = { help, labels };
    if (type === 'histogram') {
      const handle = publisher.addVariable(root, name, 'histogram', { ...options, schema });
      return { handle, set: (now) => handle.set(countsOf(now, schema), now.sum) };
    }
    if (type === 'summary') {
      const handle = publisher.addVariable(root, name, 'summary', { ...options, schema });
      const valuesOf = ({ values }: RegistrySeries) =>
        schema.map((quantile) => values.get(String(quantile)) ?? NaN);
      return { handle, set: (now) => handle.set(now.count, now.sum, valuesOf(now)) };
    }
    const kind = type === 'counter' || type === 'gauge' ? type : 'unknown';
    const handle = publisher.addVariable(root, name, 'f64', { ...options, kind });
    return { handle, set: ({ values }) => handle.set(values.get('') ?? NaN) };
  }
}

/** The maximum number of warnings about different subjects. */
const MAX_WARNINGS = 64;

/** The values of a metric by labels, without `le` and `quantile`. */
function seriesOf({ name, type, values }: RegistryMetric): Iterable<RegistrySeries> {
  const own = type === 'histogram' ? 'le' : type === 'summary' ? 'quantile' : undefined;
  const all = new Map<string, RegistrySeries>();
  for (const { labels: stated, value, metricName = name } of values) {
    const labels: Record<string, string> = {};
    for (const [label, text] of Object.entries(stated))
      if (label !== own && text !== undefined) labels[label] = String(text);
    const key = JSON.stringify(Object.entries(labels).sort());
    const series = all.get(key) ?? { labels, values: new Map<string, number>(), sum: 0, count: 0 };
    all.set(key, series);
    if (own !== undefined && metricName === `${name}_sum`) series.sum = value;
    else if (own !== undefined && metricName === `${name}_count`) series.count = value;
    else series.values.set(own === undefined ? '' : String(stated[own]), value);
  }
  return all.values();
}

/** The finite bounds of a histogram, or the quantiles of a summary, in ascending order. */
const schemaOf = (type: unknown, { values }: RegistrySeries): readonly number[] =>
  type === 'histogram' || type === 'summary'
    ? [...values.keys()]
        .map(Number)
        .filter(Number.isFinite)
        .sort((one, other) => one - other)
    : [];

/** The observations in each bucket, from the cumulative counts of a registry. */
function countsOf({ values, count }: RegistrySeries, schema: readonly number[]): number[] {
  const cumulative = [...schema.map((bound) => values.get(String(bound)) ?? 0), count];
  return cumulative.map((each, index) => each - (cumulative[index - 1] ?? 0));
}

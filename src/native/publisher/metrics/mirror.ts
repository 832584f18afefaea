// Publishes metrics of another library by copying all their values.
import { messageOf } from '../../../errors.js';
import type { PublishedValues } from '../published-values.js';
import type { DefaultLabels } from './metric-object.js';
import type { Session } from './session.js';

/** A metric with its values, as `getMetricsAsJSON` of prom-client returns it. */
export interface RegistryMetric {
  readonly name: string;
  readonly help: string;
  /** The text `counter`, `gauge`, `histogram` or `summary`, although the types of prom-client state a number. */
  readonly type: unknown;
  readonly values?: readonly RegistryValue[] | null;
}

export interface RegistryValue {
  readonly value: number;
  readonly labels?: Readonly<Partial<Record<string, string | number>>> | null;
  /** The name of the series, if it differs from that of the metric. */
  readonly metricName?: string;
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

/** Keeps the variables of a publisher equal to the series of a registry. */
export class Mirror {
  readonly #session: Session;
  /** The published series by name, type, bounds and labels. */
  readonly #published = new Map<string, Published>();
  #dropped = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The number of series for which the segment had no room at the last `take`. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Removes the series that are gone, and publishes the values of the others. `defaults` are labels of all metrics. */
  take(metrics: Iterable<RegistryMetric>, defaults: DefaultLabels = {}): void {
    const wanted = new Map<string, () => void>();
    for (const metric of metrics)
      this.#guarded(metric, () => {
        for (const series of seriesOf(metric, defaults)) {
          const schema = schemaOf(metric.type, series);
          const key = JSON.stringify([metric.name, metric.type, schema, series.labels]);
          wanted.set(key, () => {
            this.#publish(key, metric, series, schema);
          });
        }
      });
    for (const [key, { handle }] of this.#published)
      if (!wanted.has(key)) {
        this.#session.publisher.removeVariable(handle);
        this.#published.delete(key);
      }
    this.#dropped = 0;
    for (const publish of wanted.values()) publish();
  }

  /** Writes a warning instead of an error: a program may register any object, and its values may have any type. */
  #guarded(metric: Partial<RegistryMetric> | null | undefined, run: () => void): void {
    try {
      run();
    } catch (error) {
      const name = String(metric?.name);
      this.#session.warnOnce(
        name,
        `metric ${name} of the registry is left out: ${messageOf(error)}`,
      );
    }
  }

  #publish(
    key: string,
    metric: RegistryMetric,
    series: RegistrySeries,
    schema: readonly number[],
  ): void {
    this.#guarded(metric, () => {
      const published = this.#published.get(key) ?? this.#add(metric, series, schema);
      if (published.handle.ref === undefined) {
        this.#dropped++;
        return;
      }
      this.#published.set(key, published);
      published.set(series);
    });
  }

  #add(
    { name, help, type }: RegistryMetric,
    { labels }: RegistrySeries,
    schema: readonly number[],
  ): Published {
    const { publisher, root } = this.#session;
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

/** The values of a metric by labels, without `le` and `quantile`. */
function seriesOf(
  { name, type, values }: RegistryMetric,
  defaults: DefaultLabels,
): Iterable<RegistrySeries> {
  const own = type === 'histogram' ? 'le' : type === 'summary' ? 'quantile' : undefined;
  const all = new Map<string, RegistrySeries>();
  for (const { labels: given, value, metricName = name } of values ?? []) {
    const stated = { ...defaults, ...given };
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

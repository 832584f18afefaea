// A registry of metrics, with the interface of prom-client.
import { checkValue, shownValue, utf8 } from '../../../rules/options.js';
import { rule } from '../../../rules/rule.js';
import { LIMITS } from '../../segment/layout.js';
import { seriesProblem } from '../../segment/series-name.js';
import type {
  DefaultLabels,
  MetricObject,
  MetricObjectWithValues,
  MetricValue,
} from './metric-object.js';
import { copyOf } from './children.js';
import { pageOf, textOf } from './registry-text.js';

export type Charset = 'utf-8';
export type PrometheusMIME = 'text/plain';
export type PrometheusMetricsVersion = '0.0.4';
export type OpenMetricsMIME = 'application/openmetrics-text';
export type OpenMetricsVersion = '1.0.0';
export type PrometheusContentType =
  `${PrometheusMIME}; version=${PrometheusMetricsVersion}; charset=${Charset}`;
export type OpenMetricsContentType =
  `${OpenMetricsMIME}; version=${OpenMetricsVersion}; charset=${Charset}`;
export type RegistryContentType = PrometheusContentType | OpenMetricsContentType;

const PROMETHEUS: PrometheusContentType = 'text/plain; version=0.0.4; charset=utf-8';
const OPENMETRICS: OpenMetricsContentType =
  'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The result of `get()`. A metric of an application's own class may leave out its values. */
type CollectedMetric = MetricObject & { readonly values?: readonly MetricValue[] };

/** A metric of this library, of prom-client, or of an application's own class. */
export interface RegisteredMetric {
  readonly name: string;
  get(): Promise<CollectedMetric>;
  getForPromString?(): Promise<CollectedMetric>;
  reset?(): void;
}

/** Follows the metrics of a registry. */
export interface RegistryFollower {
  added(metric: RegisteredMetric): void;
  removed(metric: RegisteredMetric): void;
  /** Called after a change of the default labels. */
  relabelled(): void;
}

const anyLabels = rule('table', 'an object with labels', (raw) =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? raw : undefined,
);
/** Label values may have any type, as in prom-client. */
const labelValue = rule(
  'string',
  `a text, or a value that can be converted to one, of at most ${LIMITS.seriesBytes} bytes of UTF-8`,
  (raw) =>
    typeof raw === 'symbol'
      ? undefined
      : utf8(LIMITS.seriesBytes).read(String(raw), [], () => undefined),
);

const anyMetric = rule('table', 'a metric of this library or of prom-client', (raw) =>
  typeof raw === 'object' && raw !== null ? raw : undefined,
);
const someRegistries = rule('array', 'an array of at least one registry', (raw) =>
  Array.isArray(raw) && raw.length > 0 && raw.every((each) => each instanceof Registry)
    ? raw
    : undefined,
);

export class Registry<T extends RegistryContentType = PrometheusContentType> {
  static readonly PROMETHEUS_CONTENT_TYPE = PROMETHEUS;
  static readonly OPENMETRICS_CONTENT_TYPE = OPENMETRICS;
  static readonly globalRegistry = new Registry();
  readonly #metrics = new Map<string, RegisteredMetric>();
  readonly #followers = new Set<RegistryFollower>();
  #defaultLabels: DefaultLabels = {};
  #contentType: RegistryContentType;

  /** @throws RangeError for any but the two content types */
  constructor(contentType: T | PrometheusContentType = PROMETHEUS) {
    this.#contentType = checkedType(contentType);
  }

  /** Merges registries into a new one. @throws RangeError for different content types, and for two metrics of one name */
  static merge<T extends RegistryContentType>(
    registers: readonly [Registry<T>, ...Registry<T>[]],
  ): Registry<T> {
    checkValue('merge: registers', registers, someRegistries);
    const [{ contentType }] = registers;
    const merged = new Registry<T>(contentType);
    for (const register of registers) {
      if (register.contentType !== contentType)
        throw new RangeError(
          'merge: Registers can only be merged if they have the same content type',
        );
      for (const metric of register.getMetricsAsArray()) merged.registerMetric(metric);
    }
    return merged;
  }

  get contentType(): T {
    return this.#contentType as T;
  }

  setContentType(contentType: T): void {
    this.#contentType = checkedType(contentType);
  }

  /** @throws RangeError if another metric has the name */
  registerMetric(metric: RegisteredMetric): void {
    checkValue('registerMetric: metric', metric, anyMetric);
    const { name } = metric;
    const known = this.#metrics.get(name);
    if (known === metric) return;
    if (known !== undefined)
      throw new RangeError(
        `registerMetric: A metric with the name ${name} has already been registered.`,
      );
    this.#metrics.set(name, metric);
    for (const follower of this.#followers) follower.added(metric);
  }

  getSingleMetric(name: string): RegisteredMetric | undefined {
    return this.#metrics.get(name);
  }

  getMetricsAsArray(): (RegisteredMetric & MetricObject)[] {
    // As in prom-client, the type states what metrics of the libraries have.
    return [...this.#metrics.values()] as (RegisteredMetric & MetricObject)[];
  }

  removeSingleMetric(name: string): void {
    const metric = this.#metrics.get(name);
    if (metric === undefined) return;
    this.#metrics.delete(name);
    for (const follower of this.#followers) follower.removed(metric);
  }

  /** Removes all metrics and default labels. */
  clear(): void {
    for (const name of [...this.#metrics.keys()]) this.removeSingleMetric(name);
    this.setDefaultLabels({});
  }

  resetMetrics(): void {
    for (const metric of this.#metrics.values()) metric.reset?.();
  }

  /**
   * Sets labels of all metrics. Labels of a metric take precedence. A label whose value is undefined is left out.
   * @throws RangeError for a wrong label name, or a value that is a symbol or too long
   */
  setDefaultLabels(labels: object): void {
    checkValue('setDefaultLabels: labels', labels, anyLabels);
    for (const [label, value] of Object.entries(labels))
      checkValue(`setDefaultLabels: labels: ${label}`, value, labelValue);
    const stated = copyOf({ ...labels });
    const problem = seriesProblem({ name: 'any', labels: { ...labels } }, 'f64');
    if (problem !== undefined)
      throw new RangeError(`setDefaultLabels: labels: found an object that ${problem}`);
    this.#defaultLabels = stated;
    for (const follower of this.#followers) follower.relabelled();
  }

  get defaultLabels(): DefaultLabels {
    return this.#defaultLabels;
  }

  /** The page with all metrics, in the format of the content type. */
  async metrics(): Promise<string> {
    const isOpenMetrics = this.#contentType === OPENMETRICS;
    const texts = this.getMetricsAsArray().map((metric) => this.getMetricsAsString(metric));
    return pageOf(await Promise.all(texts), isOpenMetrics);
  }

  async getMetricsAsString(metric: RegisteredMetric): Promise<string> {
    const object = await (metric.getForPromString?.() ?? metric.get());
    return textOf(withValues(object), this.#defaultLabels, this.#contentType === OPENMETRICS);
  }

  /** @throws RangeError if there is no such metric */
  async getSingleMetricAsString(name: string): Promise<string> {
    const metric = this.#metrics.get(name);
    if (metric === undefined)
      throw new RangeError(
        `getSingleMetricAsString: name: found ${shownValue(name)}, allowed: the name of a registered metric`,
      );
    return this.getMetricsAsString(metric);
  }

  async getMetricsAsJSON(): Promise<MetricObjectWithValues[]> {
    const objects = await Promise.all(this.getMetricsAsArray().map((metric) => metric.get()));
    return objects.map((object) => this.#withDefaultLabels(withValues(object)));
  }

  /** Calls `follower` for later changes, until the returned function is called. */
  follow(follower: RegistryFollower): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  #withDefaultLabels(object: MetricObjectWithValues): MetricObjectWithValues {
    if (Object.keys(this.#defaultLabels).length === 0) return object;
    const values = object.values.map((value) => ({
      ...value,
      labels: { ...this.#defaultLabels, ...value.labels },
    }));
    return { ...object, values };
  }
}

const withValues = (object: CollectedMetric): MetricObjectWithValues => ({
  ...object,
  values: object.values ?? [],
});

function checkedType(contentType: RegistryContentType): RegistryContentType {
  if ([PROMETHEUS, OPENMETRICS].includes(contentType)) return contentType;
  throw new RangeError(
    `Registry: Content type ${contentType} is unsupported, allowed: "${PROMETHEUS}" or "${OPENMETRICS}"`,
  );
}

/** The registry of all metrics that state no other. */
export const register = Registry.globalRegistry;

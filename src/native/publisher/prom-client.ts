// The entry `prom-client` of the npm package: the names that prom-client exports, with the metrics of this library.
// Webpack replaces an imported `createRequire`, but not the property.
import nodeModule from 'node:module';
import { join } from 'node:path';
import { codeFolders } from '../os/code-folders.js';
import { Registry, publishFromEnvironment, register } from './library.js';
import type {
  Aggregator,
  Counter,
  Gauge,
  Histogram,
  MetricObjectWithValues,
  PrometheusContentType,
  RegistryContentType,
  Summary,
} from './library.js';

export {
  Counter,
  Gauge,
  Histogram,
  Info,
  Registry,
  Summary,
  exponentialBuckets,
  linearBuckets,
  publish,
  register,
} from './library.js';
export type * from './metrics/types.js';

/** Any metric of this library. */
export type Metric<T extends string = string> = Counter<T> | Gauge<T> | Histogram<T> | Summary<T>;

/** The type that prom-client has for functions without arguments and result. */
export type Collector = () => void;

/** The types of metrics. The types of prom-client have an enumeration of this name. */
export const MetricType = {
  Counter: 'counter',
  Gauge: 'gauge',
  Histogram: 'histogram',
  Summary: 'summary',
} as const;
export type MetricType = (typeof MetricType)[keyof typeof MetricType];

/**
 * The content type of the default registry at the time of the import. The `contentType` of the default export, which
 * scripts/publisher-package.js makes, is always the current one.
 */
export const contentType: RegistryContentType = register.contentType;
export const prometheusContentType = Registry.PROMETHEUS_CONTENT_TYPE;
export const openMetricsContentType = Registry.OPENMETRICS_CONTENT_TYPE;

export const validateMetricName = (name: string): boolean =>
  /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name);

type AnyRegistry = Registry<RegistryContentType>;
type Metrics = readonly MetricObjectWithValues[];

interface PushResponse {
  readonly resp?: unknown;
  readonly body?: unknown;
}

/** The job and the grouping labels of pushed metrics. */
export interface PushParameters {
  readonly jobName: string;
  readonly groupings?: Readonly<Record<string, string>>;
}

export interface DefaultMetricsCollectorConfiguration<
  T extends RegistryContentType = RegistryContentType,
> {
  /** Default: the registry `register`. */
  readonly register?: Registry<T> | undefined;
  readonly prefix?: string;
  readonly gcDurationBuckets?: readonly number[];
  readonly eventLoopMonitoringPrecision?: number;
  readonly labels?: object;
}

/** The parts of the installed prom-client that this entry uses. */
interface PromClient {
  readonly collectDefaultMetrics: {
    (configuration: DefaultMetricsCollectorConfiguration): void;
    readonly metricsList: string[];
  };
  readonly Pushgateway: new (url: string, options: unknown, registry: AnyRegistry) => Gateway;
  readonly Registry: new (contentType: RegistryContentType) => TheirRegistry;
  readonly AggregatorRegistry: {
    new (contentType?: RegistryContentType): { clusterMetrics(): Promise<string> };
    aggregate(metrics: readonly Metrics[], contentType?: RegistryContentType): TheirRegistry;
    setRegistries(registers: readonly TheirRegistry[]): void;
  };
  readonly aggregators: Readonly<Record<Aggregator, (metrics: Metrics) => unknown>>;
}

interface Gateway {
  pushAdd(parameters?: PushParameters): Promise<PushResponse>;
  push(parameters?: PushParameters): Promise<PushResponse>;
  delete(parameters?: PushParameters): Promise<PushResponse>;
}

interface TheirRegistry {
  getMetricsAsJSON(): Promise<Metrics>;
  metrics(): Promise<string>;
}

/** Loads the installed prom-client at the first use of one of its parts. @throws Error if it is not installed */
function promClient(part: string): PromClient {
  let cause: unknown;
  for (const folder of codeFolders(import.meta.url))
    try {
      return nodeModule.createRequire(join(folder, 'any.js'))('prom-client') as PromClient;
    } catch (error) {
      cause ??= error;
    }
  throw new Error(`${part} needs the package prom-client, version 15: npm install prom-client`, {
    cause,
  });
}

/**
 * Collects the default metrics of prom-client into a registry of this library, which publishes copies of their values.
 * @throws Error if prom-client is not installed
 */
export function collectDefaultMetrics<T extends RegistryContentType>(
  configuration?: DefaultMetricsCollectorConfiguration<T>,
): void {
  const into = configuration?.register ?? register;
  promClient('collectDefaultMetrics').collectDefaultMetrics({ ...configuration, register: into });
}

Object.defineProperty(collectDefaultMetrics, 'metricsList', {
  enumerable: true,
  get: () => promClient('metricsList').collectDefaultMetrics.metricsList,
});

/** Pushes the metrics of a registry of this library with the Pushgateway client of prom-client. */
export class Pushgateway<T extends RegistryContentType = PrometheusContentType> {
  readonly #gateway: Gateway;

  /** @throws Error if prom-client is not installed */
  constructor(url: string, options?: object, registry: Registry<T> | Registry = register) {
    this.#gateway = new (promClient('Pushgateway').Pushgateway)(url, options, registry);
  }

  pushAdd(parameters?: PushParameters): Promise<PushResponse> {
    return this.#gateway.pushAdd(parameters);
  }

  push(parameters?: PushParameters): Promise<PushResponse> {
    return this.#gateway.push(parameters);
  }

  delete(parameters?: PushParameters): Promise<PushResponse> {
    return this.#gateway.delete(parameters);
  }
}

/** Sums the metrics of the workers of a cluster in the primary process, as prom-client does. */
export class AggregatorRegistry<
  T extends RegistryContentType = PrometheusContentType,
> extends Registry<T> {
  static #hasRegistries = false;
  readonly #aggregator: { clusterMetrics(): Promise<string> };

  /** @throws Error if prom-client is not installed */
  constructor(contentType?: T) {
    super(contentType);
    this.#aggregator = new (promClient('AggregatorRegistry').AggregatorRegistry)(contentType);
    if (!AggregatorRegistry.#hasRegistries) AggregatorRegistry.setRegistries(register);
  }

  static aggregate(metrics: readonly Metrics[], contentType?: RegistryContentType): TheirRegistry {
    return promClient('AggregatorRegistry').AggregatorRegistry.aggregate(metrics, contentType);
  }

  /** Sets the registries of this worker, `register` by default. */
  static setRegistries(registers: AnyRegistry | readonly AnyRegistry[]): void {
    const theirs = promClient('AggregatorRegistry');
    AggregatorRegistry.#hasRegistries = true;
    theirs.AggregatorRegistry.setRegistries(
      [registers].flat().map((own) => {
        if (own instanceof theirs.Registry) return own;
        const getMetricsAsJSON = (): Promise<Metrics> => own.getMetricsAsJSON();
        return Object.assign(new theirs.Registry(own.contentType), { getMetricsAsJSON });
      }),
    );
  }

  clusterMetrics(): Promise<string> {
    return this.#aggregator.clusterMetrics();
  }
}

const aggregator =
  (name: Aggregator) =>
  (metrics: Metrics): unknown =>
    promClient('aggregators').aggregators[name](metrics);

/** How the values of workers are combined. */
export const aggregators = {
  sum: aggregator('sum'),
  first: aggregator('first'),
  omit: aggregator('omit'),
  average: aggregator('average'),
  min: aggregator('min'),
  max: aggregator('max'),
};

publishFromEnvironment(process.env);

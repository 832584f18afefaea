// Publishes the metrics of a registry of prom-client, so that the exporter shows what the registry would.
import { anyOptions, checkValue, shownValue } from '../../rules/options.js';
import { Mirror } from './metrics/mirror.js';
import type { RegistryMetric } from './metrics/mirror.js';
import { isObject } from './metrics/children.js';
import { Session } from './metrics/session.js';
import type { SessionOptions } from './metrics/session.js';

/** The part of a `Registry` of prom-client that `publishRegistry` needs. */
export interface MetricsRegistry {
  getMetricsAsJSON: () => readonly RegistryMetric[] | PromiseLike<readonly RegistryMetric[]>;
}

/** A registry of prom-client, whose metrics can be collected one by one. */
interface SeparateMetrics extends MetricsRegistry {
  readonly getMetricsAsArray: () => readonly SeparateMetric[];
}

interface SeparateMetric {
  readonly name: string;
}

export type RegistryOptions = SessionOptions;

export interface PublishedRegistry {
  /** Whether the segment has its server key now, so that readers find it. */
  readonly holdsKey: boolean;
  /**
   * Collects the metrics of the registry and publishes them now. Never rejects: metrics that fail keep their last values,
   * and `warn` gets a sentence. Has no effect after `close()`.
   */
  readonly update: () => Promise<void>;
  /** Ends the updates, and closes the segment. */
  readonly close: () => void;
}

/**
 * Publishes the metrics of a registry, and updates them at an interval, until the process ends or `close()`. The timers
 * do not keep the process alive. Resolves once the segment is visible, or waits for its server key.
 * @param register a registry of prom-client
 * @throws RangeError for anything but a registry, and for an option that is unknown, invalid or missing
 * @throws Fault as the constructor and `publish()` of `Publisher` do
 */
export async function publishRegistry(
  register: MetricsRegistry,
  options: RegistryOptions,
): Promise<PublishedRegistry> {
  checkRegistry(register);
  checkValue('publishRegistry: options', options, anyOptions);
  const copy = new RegistryCopy('publishRegistry', register, options);
  await copy.start();
  return copy;
}

function checkRegistry(register: unknown): void {
  if (has(register, 'getMetricsAsJSON')) return;
  const isModule = isObject(register) && has(register['register'], 'getMetricsAsJSON');
  const found = isModule ? 'the module prom-client (write prom.register)' : shownValue(register);
  throw new RangeError(
    `publishRegistry: register: found ${found}, allowed: a registry of prom-client`,
  );
}

const has = (object: unknown, method: string): boolean =>
  isObject(object) && typeof object[method] === 'function';

const isSeparate = (register: MetricsRegistry): register is SeparateMetrics =>
  has(register, 'getMetricsAsArray') && '_defaultLabels' in register;

/** A view of a registry with one metric, and with the default labels of the registry. */
const viewOf = (register: SeparateMetrics, metric: SeparateMetric): MetricsRegistry =>
  Object.create(register, { getMetricsAsArray: { value: () => [metric] } }) as MetricsRegistry;

/** A segment with copies of the metrics of a registry. */
export class RegistryCopy implements PublishedRegistry {
  readonly #session: Session;
  readonly #mirror: Mirror;
  readonly #register: MetricsRegistry;
  /** The last values of the metrics of a registry of prom-client. */
  readonly #values = new WeakMap<SeparateMetric, readonly RegistryMetric[]>();
  /** Settles with the update that was begun last. */
  #last = Promise.resolve();
  /** The number of updates that have not ended. */
  #open = 0;

  /**
   * @param of the function or class that publishes, for messages
   * @throws RangeError for an option that is unknown, invalid or missing
   * @throws Fault as the constructor of `Publisher` does
   */
  constructor(of: string, register: MetricsRegistry, options: RegistryOptions) {
    this.#session = new Session(of, options);
    this.#mirror = new Mirror(this.#session);
    this.#register = register;
  }

  /** Publishes the metrics, and updates them at the interval. @throws Fault as `publish()` of `Publisher` does */
  async start(): Promise<void> {
    await this.update();
    this.#session.start(() => {
      if (this.#open === 0) void this.update();
    });
  }

  get holdsKey(): boolean {
    return this.#session.publisher.holdsKey;
  }

  readonly update = (): Promise<void> => {
    this.#open++;
    return (this.#last = this.#last
      .then(() => this.#collect())
      .finally(() => {
        this.#open--;
      }));
  };

  readonly close = (): void => {
    this.#session.close();
  };

  async #collect(): Promise<void> {
    const { publisher, isOpen } = this.#session;
    if (!isOpen) return;
    try {
      const register = this.#register;
      if (isSeparate(register)) {
        const metrics = register.getMetricsAsArray();
        const values = metrics.map((metric) => this.#valuesOf(register, metric));
        this.#mirror.take((await Promise.all(values)).flat());
      } else {
        const metrics = register.getMetricsAsJSON();
        this.#mirror.take(await this.#session.within('getMetricsAsJSON', metrics));
      }
      publisher.setDropped(0, this.#mirror.dropped);
      publisher.notify();
    } catch (error) {
      const sentence = `the metrics of the registry cannot be collected: ${String(error)}`;
      this.#session.warnOnce('', sentence);
    }
  }

  /** Collects one metric. If that fails, the metric keeps its last values, and the others get new ones. */
  async #valuesOf(
    register: SeparateMetrics,
    metric: SeparateMetric,
  ): Promise<readonly RegistryMetric[]> {
    try {
      const values = viewOf(register, metric).getMetricsAsJSON();
      this.#values.set(metric, await this.#session.within('collect', values));
    } catch (error) {
      const sentence = `the metric ${metric.name} cannot be collected: ${String(error)}`;
      this.#session.warnOnce(`${metric.name} collect`, sentence);
    }
    return this.#values.get(metric) ?? [];
  }
}

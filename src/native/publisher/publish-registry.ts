// Publishes the metrics of a registry of prom-client, so that the exporter shows what the registry would.
import { Mirror } from './metrics/mirror.js';
import type { RegistryMetric } from './metrics/mirror.js';
import { Session } from './metrics/session.js';
import type { SessionOptions } from './metrics/session.js';

/** The part of a `Registry` of prom-client that `publishRegistry` needs. */
export interface MetricsRegistry {
  getMetricsAsJSON: () => readonly RegistryMetric[] | PromiseLike<readonly RegistryMetric[]>;
}

export type RegistryOptions = SessionOptions;

export interface PublishedRegistry {
  /** Collects the metrics of the registry and publishes them now. If that fails, the last values stay. */
  readonly update: () => Promise<void>;
  /** Ends the updates, and closes the segment. */
  readonly close: () => void;
}

/**
 * Publishes the metrics of a registry, and updates them at an interval, until the process ends or `close()`. The timers
 * do not keep the process alive. Resolves once the segment is visible, or waits for its server key.
 * @param register a registry of prom-client
 * @throws RangeError for an option that is unknown, invalid or missing
 * @throws Fault as the constructor and `publish()` of `Publisher` do
 */
export async function publishRegistry(
  register: MetricsRegistry,
  options: RegistryOptions,
): Promise<PublishedRegistry> {
  const copy = new RegistryCopy('publishRegistry', register, options);
  await copy.start();
  return copy;
}

/** A segment with copies of the metrics of a registry. */
export class RegistryCopy implements PublishedRegistry {
  readonly #session: Session;
  readonly #mirror: Mirror;
  readonly #register: MetricsRegistry;
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
    const { publisher } = this.#session;
    try {
      const metrics = this.#register.getMetricsAsJSON();
      this.#mirror.take(await this.#session.within('getMetricsAsJSON', metrics));
      publisher.setDropped(0, this.#mirror.dropped);
      publisher.notify();
    } catch (error) {
      const sentence = `the metrics of the registry cannot be collected: ${String(error)}`;
      this.#session.warnOnce('', sentence);
    }
  }
}

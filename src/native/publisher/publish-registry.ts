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
  const session = new Session('publishRegistry', options);
  const mirror = new Mirror(session);
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
      session.publisher.setDropped(0, mirror.dropped);
      session.publisher.notify();
    } catch (error) {
      session.warnOnce('', `the metrics of the registry cannot be collected: ${String(error)}`);
    }
  };
  await update();
  session.start(() => {
    if (open === 0) void update();
  });
  const close = (): void => {
    session.close();
  };
  return { update, close };
}

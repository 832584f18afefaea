// Publishes the metrics of a registry: those of this library in place, those of prom-client as copies.
import { anyOptions, checkValue } from '../../../rules/options.js';
import { rule } from '../../../rules/rule.js';
import type { PublishedValue } from '../published-values.js';
import type { Child } from './child.js';
import { isObject } from './children.js';
import { Metric } from './metric.js';
import type { AnyMetric, MetricPublication } from './metric.js';
import { Mirror } from './mirror.js';
import type { RegistryMetric } from './mirror.js';
import { Registry, register as defaultRegister } from './registry.js';
import type { RegisteredMetric, RegistryContentType, RegistryFollower } from './registry.js';
import { Session, checkSession } from './session.js';
import type { SessionOptions } from './session.js';

export interface PublishOptions extends SessionOptions {
  /** Default: the registry `register`. */
  readonly register?: Registry<RegistryContentType> | undefined;
}

export interface Publication {
  /** Whether the segment has its server key now, so that readers find it. */
  readonly holdsKey: boolean;
  /**
   * Calls the `collect` functions now, and publishes the quantiles of summaries and the copied metrics. Never rejects: a
   * metric that fails keeps its last values, and `warn` gets a sentence. Has no effect after `close()`.
   */
  update(): Promise<void>;
  /** Closes the segment. The metrics keep their values, and may be published again. */
  close(): void;
}

/**
 * Publishes all metrics of a registry, also later ones, until the process ends or `close()`. Nothing keeps the process
 * alive. The segment is visible at once, or waits for its server key.
 * @throws RangeError for an option that is unknown, invalid or missing
 * @throws Fault as the constructor and `publish()` of `Publisher` do
 */
export function publish(options: PublishOptions): Publication {
  checkSession('publish', options, { register: registryRule });
  const { register = defaultRegister, ...own } = options;
  return new RegistryPublication(register, own);
}

const registryRule = rule(
  'table',
  'a Registry of this library',
  (raw) => (raw instanceof Registry ? raw : undefined),
  (raw) =>
    isObject(raw) && typeof raw['getMetricsAsJSON'] === 'function'
      ? ' (for a registry of prom-client, use publishRegistry)'
      : '',
);

const isOwn = (metric: RegisteredMetric): metric is AnyMetric => metric instanceof Metric;

/** A call of `collect` or `get` that has not ended. */
interface OpenCall {
  readonly ended: Promise<void>;
  /** The call after it: at most one waits, since it has all values that later ones would have. */
  next: Promise<void> | undefined;
}

class RegistryPublication implements Publication, MetricPublication, RegistryFollower {
  readonly #register: Registry<RegistryContentType>;
  readonly #session: Session;
  readonly #mirror: Mirror;
  readonly #unfollow: () => void;
  /** The metrics of this library that this publication publishes in place. */
  readonly #own = new Set<AnyMetric>();
  /** The last values of metrics that are copied: of other libraries, or in place in another publication. */
  readonly #copied = new Map<RegisteredMetric, RegistryMetric | undefined>();
  /** The calls of `collect` or `get` that have not ended. */
  readonly #open = new Map<RegisteredMetric, OpenCall>();
  /** Children for which the segment had no room. */
  readonly #unplaced = new Map<Child, AnyMetric>();
  /**
   * The variables of dropped children, until the running code ends or awaits. A function `collect` that resets a metric
   * and sets its values again then keeps the variables. To remove and add their records would take ten times as long.
   */
  readonly #dropped = new Map<Child, PublishedValue>();

  constructor(register: Registry<RegistryContentType>, options: SessionOptions) {
    this.#register = register;
    this.#session = new Session('publish', options, () => {
      this.#leave();
    });
    this.#mirror = new Mirror(this.#session);
    this.#unfollow = register.follow(this);
    for (const metric of register.getMetricsAsArray())
      if (isOwn(metric)) {
        this.#own.add(metric);
        void this.#collect(metric);
      } else this.#copied.set(metric, undefined);
    const isIdle = (metric: RegisteredMetric): boolean => !this.#open.has(metric);
    this.#session.start(() => void this.#update(isIdle));
    // The metrics of this library have been collected above.
    void this.#update((metric) => this.#copied.has(metric));
  }

  get serverKey(): string {
    return this.#session.serverKey;
  }

  get holdsKey(): boolean {
    return this.#session.publisher.holdsKey;
  }

  update(): Promise<void> {
    return this.#update(() => true);
  }

  /** Updates the metrics that `wanted` accepts. At the interval, it leaves out those whose last update has not ended. */
  async #update(wanted: (metric: RegisteredMetric) => boolean): Promise<void> {
    const { publisher } = this.#session;
    for (const [child, metric] of [...this.#unplaced]) this.add(metric, child);
    await Promise.all([...this.#own].filter(wanted).map((metric) => this.#collect(metric)));
    await Promise.all([...this.#copied.keys()].filter(wanted).map((metric) => this.#copy(metric)));
    // The publication that had these metrics in place has closed.
    const released = [...this.#copied.keys()].filter(isOwn).filter((metric) => !metric.isPublished);
    for (const metric of released) this.#copied.delete(metric);
    this.#mirror.take(
      [...this.#copied.values()].filter((object) => object !== undefined),
      this.#register.defaultLabels,
    );
    for (const metric of released) {
      this.#own.add(metric);
      this.#attach(metric);
    }
    this.#countDropped();
    publisher.notify();
  }

  close(): void {
    this.#session.close();
  }

  added(metric: RegisteredMetric): void {
    if (!isOwn(metric)) {
      this.#copied.set(metric, undefined);
      return;
    }
    this.#own.add(metric);
    if (metric.collect === undefined) void this.#collect(metric);
    // The program that makes the metric may not have assigned it yet to the variable that `collect` uses.
    else void Promise.resolve().then(() => this.#collect(metric));
  }

  removed(metric: RegisteredMetric): void {
    this.#copied.delete(metric);
    if (!isOwn(metric)) return;
    this.#own.delete(metric);
    // Another metric may get the name at once.
    this.#removeDropped();
    for (const child of metric.detach(this) ?? []) this.remove(child);
  }

  relabelled(): void {
    this.#removeDropped();
    for (const metric of this.#own) {
      const children = metric.detach(this);
      if (children === undefined) continue;
      for (const child of children) this.remove(child);
      metric.attach(this);
    }
  }

  add(metric: AnyMetric, child: Child): void {
    const { publisher, root } = this.#session;
    const { publishedName: name, help } = metric;
    const defaults = this.#register.defaultLabels;
    const known = this.#dropped.get(child);
    this.#unplaced.delete(child);
    if (known !== undefined) {
      this.#dropped.delete(child);
      // The variable has the type that the same child stated before.
      child.publish(() => known as never);
      return;
    }
    const all = Object.entries({ ...child.labels, ...defaults, ...child.labels });
    const labels = Object.fromEntries(all.map(([label, value]) => [label, String(value)]));
    try {
      const publish = (): boolean =>
        child.publish((type, options) =>
          publisher.addVariable(root, name, type, { ...options, help, labels }),
        );
      if (publish()) return;
      const hasRoom = this.#removeDropped() && publish();
      if (!hasRoom) {
        this.#unplaced.set(child, metric);
        this.#warn(name, 'full', 'has no room in the segment for all children; see capacity');
      }
      this.#countDropped();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#warn(name, 'wrong', `leaves out a child: ${error.message}`);
    }
  }

  drop(child: Child): void {
    this.#unplaced.delete(child);
    const variable = child.withdraw();
    if (variable === undefined) return;
    // Not queueMicrotask, which Jest's fake timers replace.
    if (this.#dropped.size === 0) void Promise.resolve().then(() => this.#removeDropped());
    this.#dropped.set(child, variable);
  }

  remove(child: Child): void {
    this.#unplaced.delete(child);
    const variable = child.withdraw() ?? this.#dropped.get(child);
    this.#dropped.delete(child);
    if (variable !== undefined) this.#session.publisher.removeVariable(variable);
  }

  refused(): void {
    this.#countDropped();
  }

  warn(sentence: string): void {
    this.#session.warnOnce(sentence, sentence);
  }

  /** Calls the function `collect` of a metric, then publishes the metric, so that its first values are collected. */
  #collect(metric: AnyMetric): Promise<void> {
    return this.#inTurn(metric, async () => {
      try {
        const collected = metric.collect?.();
        // Awaiting a result that is no promise would publish the metric after the segment becomes visible.
        if (collected !== undefined) await this.#session.within('collect', collected);
      } finally {
        this.#attach(metric);
      }
    });
  }

  #attach(metric: AnyMetric): void {
    if (!this.#own.has(metric)) return;
    metric.refresh();
    if (metric.attach(this)) return;
    this.#own.delete(metric);
    this.#copied.set(metric, undefined);
  }

  /** Writes once that another publication has a metric. A publisher that waits for its key has said so already. */
  #warnOfCopies({ publishedName, serverKey = this.serverKey }: AnyMetric): void {
    if (serverKey === this.serverKey && !this.holdsKey) return;
    const first = `the metric ${publishedName} is under the server key ${serverKey} already`;
    const copies = `${this.serverKey} has copies of such metrics, which are updated at its interval`;
    this.#session.warnOnce('elsewhere', `${first}: ${copies}`);
  }

  #copy(metric: RegisteredMetric): Promise<void> {
    if (isOwn(metric)) this.#warnOfCopies(metric);
    return this.#inTurn(metric, async () => {
      const object = await this.#session.within('get', metric.get());
      checkValue('get', object, anyOptions);
      if (this.#copied.has(metric)) this.#copied.set(metric, object);
    });
  }

  /** Runs one call for a metric after the other. Writes a warning if it fails. */
  #inTurn(metric: RegisteredMetric, run: () => Promise<void>): Promise<void> {
    const open = this.#open.get(metric);
    if (open !== undefined) return (open.next ??= open.ended.then(() => this.#inTurn(metric, run)));
    const ended = run()
      .catch((error: unknown) => {
        this.#warn(metric.name, 'collect', `cannot be collected: ${String(error)}`);
      })
      .finally(() => {
        this.#open.delete(metric);
      });
    this.#open.set(metric, { ended, next: undefined });
    return ended;
  }

  /** Removes the dropped children from the segment; false if there are none. */
  #removeDropped(): boolean {
    const hasDropped = this.#dropped.size > 0;
    for (const variable of this.#dropped.values()) this.#session.publisher.removeVariable(variable);
    this.#dropped.clear();
    return hasDropped;
  }

  #countDropped(): void {
    let refused = 0;
    for (const metric of this.#own) refused += metric.refused;
    this.#session.publisher.setDropped(0, refused + this.#unplaced.size + this.#mirror.dropped);
  }

  #warn(metric: string, subject: string, sentence: string): void {
    this.#session.warnOnce(`${metric} ${subject}`, `the metric ${metric} ${sentence}`);
  }

  /** Moves all values out of the segment, before it is unmapped. */
  #leave(): void {
    this.#unfollow();
    for (const metric of this.#own) for (const child of metric.detach(this) ?? []) child.withdraw();
    this.#own.clear();
    this.#copied.clear();
    this.#unplaced.clear();
    this.#dropped.clear();
  }
}

// The base of all metrics: their declaration, their children, and where these are published.
import { seriesProblem } from '../../segment/series-name.js';
import { LIMITS } from '../../segment/layout.js';
import { callback, checkOptions, utf8 } from '../../../rules/options.js';
import type { OptionRules } from '../../../rules/options.js';
import { anyText, flag, integer, list, oneOf, rule } from '../../../rules/rule.js';
import { warnOnStderr } from '../publisher.js';
import type { Child, Family } from './child.js';
import { Children, copyOf, isObject, valuesOf } from './children.js';
import type { GivenLabels, GivenValues, LabelValues } from './children.js';
import { register } from './registry.js';
import type {
  Aggregator,
  MetricObjectWithValues,
  MetricType,
  MetricValue,
} from './metric-object.js';
import type { RegisteredMetric } from './registry.js';

/** A registry of this library or of prom-client. */
export interface MetricRegister {
  registerMetric(metric: RegisteredMetric): void;
}

/** Sets the values of the metric `this`. */
export type CollectFunction<M> = (this: M) => void | Promise<void>;

export interface MetricConfiguration<T extends string, M = unknown> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly T[] | undefined;
  /** Default: the registry `register`. */
  readonly registers?: readonly MetricRegister[] | undefined;
  /** How `AggregatorRegistry` combines the values of the workers of a cluster. Default `sum`. */
  readonly aggregator?: Aggregator | undefined;
  /** Sets the values of the metric. Called at each interval, and whenever the values are read. */
  readonly collect?: CollectFunction<M> | undefined;
  /** Whether updates take one object, as in prom-client. Exemplars are not published. Default false. */
  readonly enableExemplars?: boolean | undefined;
  /** The maximum number of children. Further label values are not published, but counted as dropped. Default 1000. */
  readonly maxChildren?: number | undefined;
}

/** A publication of a metric's children. */
export interface MetricPublication {
  readonly serverKey: string;
  add(metric: AnyMetric, child: Child): void;
  /** Removes a child that `add` may bring back. */
  drop(child: Child): void;
  /** Removes a child for good. It may have been dropped before. */
  remove(child: Child): void;
  /** Called after each update with label values beyond `maxChildren`. */
  refused(): void;
  warn(sentence: string): void;
}

/** A metric, whatever its children are. */
export type AnyMetric = Metric<string, Child>;

const MAX_CHILDREN = 1000;

const registerRule = rule('table', 'a registry', (raw) =>
  isObject(raw) && typeof raw['registerMetric'] === 'function' ? raw : undefined,
);
export const METRIC_OPTIONS = {
  name: utf8(LIMITS.nameBytes),
  help: rule('string', `a string of 1 to ${LIMITS.helpBytes} bytes of UTF-8`, (raw) =>
    raw === '' ? undefined : utf8(LIMITS.helpBytes).read(raw, [], () => undefined),
  ),
  labelNames: list(anyText, { different: { by: String } }),
  registers: list(registerRule, {}),
  aggregator: oneOf('omit', 'sum', 'first', 'min', 'max', 'average'),
  collect: callback,
  enableExemplars: flag,
  maxChildren: integer(1, LIMITS.slots),
} satisfies OptionRules;

export abstract class Metric<T extends string, C extends Child> implements RegisteredMetric {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly labelNames: readonly T[];
  readonly aggregator: Aggregator;
  readonly maxChildren: number;
  readonly collect: (() => void | Promise<void>) | undefined;
  protected readonly enableExemplars: boolean;
  readonly #children: Children<C>;
  #publication: MetricPublication | undefined;
  #refused = 0;
  #hasWarned = false;
  /** Has the name under which the metric is published: a registry of prom-client may change the property `name`. */
  protected readonly family: Family;

  /** @throws RangeError for an option that is unknown, invalid or missing */
  protected constructor(
    of: string,
    type: MetricType,
    configuration: MetricConfiguration<T, never>,
    rules: OptionRules = {},
  ) {
    checkOptions(of, configuration, { ...METRIC_OPTIONS, ...rules }, ['name', 'help']);
    const { name, help, labelNames = [], collect } = configuration;
    const labels = Object.fromEntries(labelNames.map((label) => [label, '']));
    const valueType = type === 'counter' || type === 'gauge' ? 'f64' : type;
    const problem = seriesProblem({ name, labels }, valueType);
    if (problem !== undefined) throw new RangeError(`${of}: the metric ${problem}`);
    this.name = name;
    this.help = help;
    this.type = type;
    this.labelNames = [...labelNames];
    this.aggregator = configuration.aggregator ?? 'sum';
    this.maxChildren = configuration.maxChildren ?? MAX_CHILDREN;
    this.enableExemplars = configuration.enableExemplars ?? false;
    // The subclass states the type of `this`, which is the metric itself.
    this.collect = collect && ((): void | Promise<void> => collect.call(this as never));
    this.#children = new Children<C>(name, this.labelNames, this.maxChildren);
    this.family = { name, child: (values) => this.child(values) };
  }

  /** Returns the child with these label values, and adds it if there is none. @throws RangeError for wrong labels */
  labels(...values: string[]): C;
  labels(values: LabelValues<T>): C;
  labels(...values: unknown[]): C {
    if (values.length === this.labelNames.length && !isObject(values[0])) {
      const known = this.#children.at(values);
      if (known !== undefined) return this.#revived(known);
    }
    return this.child(valuesOf(this.family.name, this.labelNames, values));
  }

  /** Removes the child with these label values. Its later updates have no effect. @throws RangeError for wrong labels */
  remove(...values: string[]): void;
  remove(values: LabelValues<T>): void;
  remove(...values: unknown[]): void {
    const { name } = this.family;
    const child = this.#children.remove(valuesOf(name, this.labelNames, values));
    if (child !== undefined) this.#forget(child);
  }

  /** Removes all children. A metric without labels begins again. */
  clear(): void {
    for (const child of this.#children.clear()) this.#forget(child);
    if (this.labelNames.length === 0) this.child({});
  }

  abstract reset(): void;

  /** The metric with all values, after a call of `collect`. */
  async get(): Promise<MetricObjectWithValues> {
    await this.collect?.();
    this.refresh();
    return this.object([...this.#children].flatMap((child) => this.valuesOf(child)));
  }

  /** Publishes all children, also later ones; false if another publication has them. */
  attach(publication: MetricPublication): boolean {
    if (this.#publication !== undefined) return this.#publication === publication;
    this.#publication = publication;
    for (const child of this.#children) publication.add(this, child);
    if (this.#refused > 0) publication.refused();
    return true;
  }

  /** Ends the publication of the children, and returns them; undefined if another publication, or none, has them. */
  detach(publication: MetricPublication): readonly Child[] | undefined {
    if (this.#publication !== publication) return undefined;
    this.#publication = undefined;
    return [...this.#children];
  }

  /** The server key of the publication that `attach` accepted; other publications have copies of the metric. */
  get serverKey(): string | undefined {
    return this.#publication?.serverKey;
  }

  /** Whether a publication has the metric in place. */
  get isPublished(): boolean {
    return this.#publication !== undefined;
  }

  get publishedName(): string {
    return this.family.name;
  }

  /** The number of updates with label values beyond `maxChildren`. */
  get refused(): number {
    return this.#refused;
  }

  /** Stores the values that updates do not store: the quantiles of summaries. */
  refresh(): void {
    // Other metrics store all values with each update.
  }

  protected abstract newChild(labels: GivenLabels): C;
  protected abstract valuesOf(child: C): MetricValue[];

  protected get children(): Iterable<C> {
    return this.#children;
  }

  protected child(values: GivenValues): C {
    const known = this.#children.find(values);
    return known === undefined ? this.#add(values) : this.#revived(known);
  }

  /** Adds the child of a metric without labels, and registers the metric. Call it last in a constructor. */
  protected register(registers: readonly MetricRegister[] = [register]): void {
    if (this.labelNames.length === 0) this.child({});
    for (const each of registers) each.registerMetric(this);
  }

  /** Removes a child. Its next update brings it back, as does a use of its label values. */
  protected drop(child: C): void {
    const forgotten = this.#children.drop(child);
    if (forgotten !== undefined) this.#publication?.remove(forgotten);
    child.redirect(() => this.#successorOf(child));
    this.#publication?.drop(child);
    child.restart();
  }

  protected object(values: readonly MetricValue[]): MetricObjectWithValues {
    const { name, help, type, aggregator } = this;
    return { name, help, type, values, aggregator };
  }

  #add(values: GivenValues): C {
    const child = this.newChild(copyOf(values));
    if (this.#children.size < this.maxChildren) this.#show(child);
    else {
      child.redirect(() => this.#successorOf(child));
      this.#warn();
    }
    return child;
  }

  /** Brings a dropped child back, if there is room. */
  #revived(child: C): C {
    if (child.isDropped && this.#children.size < this.maxChildren) this.#show(child);
    return child;
  }

  /** Makes a child a series of the metric. */
  #show(child: C): void {
    child.redirect(undefined);
    this.#children.add(child);
    this.#publication?.add(this, child);
  }

  /**
   * Returns the child that takes the updates of a dropped one, or of one that had no room: itself, if the metric has
   * room now and no other child with its labels.
   */
  #successorOf(child: C): C | undefined {
    let known = this.#children.find(child.labels);
    if (known !== undefined && known !== child) {
      // Later updates follow this one child, also after its removal.
      child.redirect(() => {
        const current = known?.current();
        known = current ?? known;
        return current;
      });
      return known.current();
    }
    if (this.#children.size < this.maxChildren) {
      this.#show(child);
      return child;
    }
    this.#refused++;
    this.#publication?.refused();
    this.#warn();
    return undefined;
  }

  /** Removes a child for good: its later updates reach no series. */
  #forget(child: C): void {
    child.redirect(undefined);
    this.#publication?.remove(child);
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const limit = `the limit ${this.maxChildren} of its option maxChildren`;
    const sentence = `the metric ${this.family.name} has reached ${limit}; further label values are not published`;
    if (this.#publication === undefined) warnOnStderr(sentence);
    else this.#publication.warn(sentence);
  }
}

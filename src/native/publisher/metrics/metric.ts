// The base of all metrics: their declaration, their children, and where these are published.
import { seriesProblem } from '../../segment/series-name.js';
import { LIMITS } from '../../segment/layout.js';
import { callback, checkOptions, shownValue, utf8 } from '../../../rules/options.js';
import type { OptionRules } from '../../../rules/options.js';
import { anyText, flag, integer, list, oneOf, rule } from '../../../rules/rule.js';
import type { Child } from './child.js';
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

export interface MetricConfiguration<T extends string, M = unknown> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly T[] | undefined;
  /** Default: the registry `register`. */
  readonly registers?: readonly MetricRegister[] | undefined;
  /** How `AggregatorRegistry` combines the values of the workers of a cluster. Default `sum`. */
  readonly aggregator?: Aggregator | undefined;
  /** Sets the values of the metric. Called at each interval, and whenever the values are read. */
  readonly collect?: ((this: M) => void | Promise<void>) | undefined;
  /** Whether updates take one object, as in prom-client. Exemplars are not published. Default false. */
  readonly enableExemplars?: boolean | undefined;
  /** The maximum number of children. Further label values are not published, but counted as dropped. Default 1000. */
  readonly maxChildren?: number | undefined;
}

/** Where the children of a metric are published. */
export interface Home {
  add(metric: AnyMetric, child: Child): void;
  remove(child: Child): void;
  /** Called after each use of label values beyond `maxChildren`. */
  refused(metric: AnyMetric): void;
}

/** A metric, whatever its children are. */
export type AnyMetric = Metric<string, Child>;

const MAX_CHILDREN = 1000;

const registerRule = rule('table', 'a registry', (raw) =>
  isObject(raw) && typeof raw['registerMetric'] === 'function' ? raw : undefined,
);
const RULES: OptionRules = {
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
};

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
  #home: Home | undefined;
  #refused = 0;
  /** Has the updates of all label values beyond `maxChildren`. */
  #excess: C | undefined;

  /** @throws RangeError for an option that is unknown, invalid or missing */
  protected constructor(
    of: string,
    type: MetricType,
    configuration: MetricConfiguration<T, never>,
    rules: OptionRules = {},
  ) {
    checkOptions(of, configuration, { ...RULES, ...rules }, ['name', 'help']);
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
    this.#children = new Children<C>(this.labelNames);
  }

  /** Returns the child with these label values, and adds it if there is none. @throws RangeError for wrong labels */
  labels(...values: string[]): C;
  labels(values: LabelValues<T>): C;
  labels(...values: unknown[]): C {
    if (values.length === this.labelNames.length && !isObject(values[0])) {
      const known = this.#children.at(values);
      if (known !== undefined) return known;
    }
    return this.child(valuesOf(this.labelNames, values));
  }

  /** Removes the child with these label values. Its later updates have no effect. @throws RangeError for wrong labels */
  remove(...values: string[]): void;
  remove(values: LabelValues<T>): void;
  remove(...values: unknown[]): void {
    const child = this.#children.remove(valuesOf(this.labelNames, values));
    if (child !== undefined) this.#home?.remove(child);
  }

  /** Removes all children. A metric without labels begins again. */
  clear(): void {
    for (const child of this.#children) this.#home?.remove(child);
    this.#children.clear();
    if (this.labelNames.length === 0) this.child({});
  }

  abstract reset(): void;

  /** The metric with all values, after a call of `collect`. */
  async get(): Promise<MetricObjectWithValues> {
    await this.collect?.();
    this.refresh();
    return this.object([...this.#children].flatMap((child) => this.valuesOf(child)));
  }

  /** Publishes all children to `home`, also later ones; false if they are published elsewhere. */
  settle(home: Home): boolean {
    if (this.#home === home) return true;
    if (this.#home !== undefined) return false;
    this.#home = home;
    for (const child of this.#children) home.add(this, child);
    if (this.#refused > 0) home.refused(this);
    return true;
  }

  /** Ends what `settle` began. Returns the children that are published to `home`; undefined if it is another home. */
  unsettle(home: Home): readonly Child[] | undefined {
    if (this.#home !== home) return undefined;
    this.#home = undefined;
    return [...this.#children];
  }

  /** The number of uses of label values beyond `maxChildren`. */
  get refused(): number {
    return this.#refused;
  }

  /** Stores values that are not stored by each update. */
  refresh(): void {
    // Only summaries have any.
  }

  protected abstract newChild(labels: GivenLabels): C;
  protected abstract valuesOf(child: C): MetricValue[];

  protected get children(): Iterable<C> {
    return this.#children;
  }

  protected child(values: GivenValues): C {
    return this.#children.find(values) ?? this.#add(values);
  }

  /** Adds the child of a metric without labels, and registers the metric. Call it last in a constructor. */
  protected enter(registers: readonly MetricRegister[] = [register]): void {
    if (this.labelNames.length === 0) this.child({});
    for (const each of registers) each.registerMetric(this);
  }

  /** Removes a child. Its next update adds another one. */
  protected drop(child: C): void {
    this.#children.remove(child.labels);
    this.#home?.remove(child);
    child.succeed(() => this.child(child.labels));
  }

  protected object(values: readonly MetricValue[]): MetricObjectWithValues {
    const { name, help, type, aggregator } = this;
    return { name, help, type, values, aggregator };
  }

  /** The error for a value that a method does not allow. */
  protected refusal(method: string, value: unknown, allowed: string): RangeError {
    return new RangeError(
      `${this.name}: ${method}: found ${shownValue(value)}, allowed: ${allowed}`,
    );
  }

  #add(values: GivenValues): C {
    if (this.#children.size >= this.maxChildren) {
      this.#refused++;
      this.#home?.refused(this);
      return (this.#excess ??= this.newChild({}));
    }
    const child = this.newChild(copyOf(values));
    this.#children.add(values, child);
    this.#home?.add(this, child);
    return child;
  }
}

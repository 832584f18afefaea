// A child of a metric: one series, with its value in private memory or in a segment.
import { shownValue } from '../../../rules/options.js';
import type { GivenLabels, GivenValues } from './children.js';
import type { PublishedValue, PublishedValues } from '../published-values.js';
import type { VariableOptions } from '../publisher-options.js';
import type { ValueType } from '../../../published.js';

/** Adds the variable of a child to a segment. Its handle has no `ref` if the segment has no room. */
export type AddVariable = <T extends ValueType>(
  type: T,
  options?: VariableOptions,
) => PublishedValues[T];

/** The parts of a metric that its children use. */
export interface Family {
  /** The name of the metric. */
  readonly name: string;
  /** Returns the child with these labels, and adds it if there is none. */
  readonly child: (labels: GivenValues) => Child;
}

/**
 * A child holds the memory of its value, so that an update is one load and one store. The metric moves the value
 * between private memory and a segment. A child that was removed has private memory, so that its updates reach no other
 * series.
 */
export abstract class Child {
  readonly labels: GivenLabels;
  readonly #family: Family;
  /** Returns the child that takes the updates of this one; undefined while this child is a series of the metric. */
  protected successor: (() => this | undefined) | undefined;
  /** The variable in the segment; undefined for a child that is not published. */
  #variable: PublishedValue | undefined;

  constructor(labels: GivenLabels, family: Family) {
    this.labels = labels;
    this.#family = family;
  }

  get variable(): PublishedValue | undefined {
    return this.#variable;
  }

  /** Sends later updates to the child that `successor` returns, or nowhere; without `successor`, to this child. */
  redirect(successor: (() => this | undefined) | undefined): void {
    this.successor = successor;
  }

  /** Whether this child is no series of the metric now. Its next update makes it one, if there is room. */
  get isDropped(): boolean {
    return this.successor !== undefined;
  }

  /** The child that has the updates, if there is one. */
  current(): this | undefined {
    return this.successor === undefined ? this : this.successor();
  }

  /** Begins again at 0. */
  abstract restart(): void;

  /** Moves the value into a new variable of a segment; false if the segment has no room. */
  publish(add: AddVariable): boolean {
    const variable = this.moveTo(add);
    if (variable.ref === undefined) return false;
    this.#variable = variable;
    return true;
  }

  /** Moves the value back into memory of the child's own. Returns the variable, which the caller removes. */
  withdraw(): PublishedValue | undefined {
    const variable = this.#variable;
    if (variable !== undefined) this.moveBack();
    this.#variable = undefined;
    return variable;
  }

  /** Returns the child with the labels of this one and with those that a timer gets at its end. */
  protected withLabels(labels: GivenValues): this {
    // The family of a child has children of the same class.
    for (const _ in labels) return this.#family.child({ ...this.labels, ...labels }) as this;
    return this;
  }

  protected get metricName(): string {
    return this.#family.name;
  }

  /** Adds a variable with the present value. Lets updates reach it if it has a `ref`. */
  protected abstract moveTo(add: AddVariable): PublishedValue;
  protected abstract moveBack(): void;
}

/** The error for a value that the method of a metric or child does not allow. */
export const refusal = (metric: string, method: string, value: unknown, allowed: string) =>
  new RangeError(`${metric}: ${method}: value: found ${shownValue(value)}, allowed: ${allowed}`);

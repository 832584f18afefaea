// A child of a metric: one series, with its value in memory of its own or in a segment.
import type { GivenLabels } from './children.js';
import type { PublishedValue, PublishedValues } from '../published-values.js';
import type { VariableOptions } from '../publisher-options.js';
import type { ValueType } from '../../../published.js';

/** Adds the variable of a child to a segment. Its handle has no `ref` if the segment has no room. */
export type AddVariable = <T extends ValueType>(
  type: T,
  options?: VariableOptions,
) => PublishedValues[T];

/**
 * A child holds the memory of its value, so that an update is one load and one store. The metric moves the value
 * between memory of the child's own and a segment. After its removal, a child keeps memory of its own, so that updates
 * reach no other series.
 */
export abstract class Child {
  readonly labels: GivenLabels;
  /** Finds the child that has the updates since the metric dropped this one; undefined before that. */
  protected successor: (() => this) | undefined;
  /** The variable in the segment; undefined for a child that is not published. */
  #variable: PublishedValue | undefined;

  constructor(labels: GivenLabels) {
    this.labels = labels;
  }

  get variable(): PublishedValue | undefined {
    return this.#variable;
  }

  /** Sends later updates to the child that `successor` returns. */
  succeed(successor: () => this): void {
    this.successor = successor;
  }

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

  /** Adds a variable with the present value. Lets updates reach it if it has a `ref`. */
  protected abstract moveTo(add: AddVariable): PublishedValue;
  protected abstract moveBack(): void;
}

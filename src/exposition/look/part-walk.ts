// Walks what is below an object in the order of its tree, from a position on, while it changes.
import type { ManagedObject, Variable } from '../../model.js';

/** What one step met. */
export type Step =
  /** An object, and whether its own position is one to look at. */
  | { readonly kind: 'object'; readonly object: ManagedObject; readonly isPassed: boolean }
  | { readonly kind: 'variable'; readonly variable: Variable }
  /** A variable that is passed over. */
  | { readonly kind: 'passed' };

const PASSED: Step = { kind: 'passed' };

/**
 * Every object and variable has a position: an object, then its variables, then what is below it.
 * Objects before the position are met too, since they stand above others; a step is never more than one item.
 */
export class PartWalk {
  #toPass: number;
  #position = 0;
  #top: ManagedObject | undefined;
  /** For each level, the objects that come next. */
  readonly #levels: Iterator<ManagedObject>[] = [];
  #variables: Iterator<Variable> | undefined;
  #object: ManagedObject | undefined;

  constructor(top: ManagedObject, from: number) {
    this.#top = top;
    this.#toPass = from;
  }

  /** The position of what the next step meets. */
  get position(): number {
    return this.#position;
  }

  /** Objects above those of the current level. */
  get depth(): number {
    return this.#levels.length - 1;
  }

  next(): Step | undefined {
    const variable = this.#variables?.next();
    if (variable?.done === false) {
      const isPassed = this.#pass(1);
      return isPassed ? PASSED : { kind: 'variable', variable: variable.value };
    }
    const object = this.#nextObject();
    if (object === undefined) return undefined;
    this.#object = object;
    const isPassed = this.#pass(1);
    const { size } = object.variables;
    // All of them at once, as far as none of them is asked for.
    const areAllPassed = isPassed && this.#toPass >= size;
    if (areAllPassed) this.#pass(size);
    this.#variables = areAllPassed ? undefined : object.variables[Symbol.iterator]();
    return { kind: 'object', object, isPassed };
  }

  #pass(count: number): boolean {
    this.#position += count;
    if (this.#toPass < count) return false;
    this.#toPass -= count;
    return true;
  }

  #nextObject(): ManagedObject | undefined {
    const top = this.#top;
    if (top !== undefined) {
      this.#top = undefined;
      this.#levels.push([][Symbol.iterator]());
      return top;
    }
    const children = this.#object?.children;
    this.#object = undefined;
    // Most objects have none.
    if (children !== undefined && children.size > 0) this.#levels.push(children[Symbol.iterator]());
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const next = level.next();
      if (next.done !== true) return next.value;
      this.#levels.pop();
    }
    return undefined;
  }
}

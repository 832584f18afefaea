// Walks what is below an object in the order of its tree, from a position on, while it changes.
import type { ManagedObject, Variable } from '../../model.js';

type Item = ManagedObject | Variable;

/** An item before the position, or several. */
export const PASSED = 'passed';

/**
 * Every object and variable has a position: an object, then its variables, then what is below it. A step
 * is never longer than one object.
 */
export class PartWalk {
  #toPass: number;
  #position = 0;
  #top: ManagedObject | undefined;
  /** For each level but the first, the objects that come next. */
  readonly #levels: Iterator<ManagedObject>[] = [];
  #variables: Iterator<Variable> | undefined;
  /** The object that was met last, until what is below it is entered. */
  #object: ManagedObject | undefined;

  constructor(top: ManagedObject, from: number) {
    this.#top = top;
    this.#toPass = from;
  }

  /** The position of what the next step meets. */
  get position(): number {
    return this.#position;
  }

  /** Objects above the one that was met last. */
  get depth(): number {
    return this.#levels.length;
  }

  /** Undefined at the end. */
  next(): Item | typeof PASSED | undefined {
    const variable = this.#variables?.next();
    if (variable?.done === false) return this.#met(variable.value);
    const object = this.#nextObject();
    if (object === undefined) return undefined;
    this.#object = object;
    // With all of its variables at once, if none of them is asked for.
    const { size } = object.variables;
    const isWhole = this.#toPass > size;
    this.#variables = isWhole ? undefined : object.variables[Symbol.iterator]();
    if (!isWhole) return this.#met(object);
    this.#toPass -= size + 1;
    this.#position += size + 1;
    return PASSED;
  }

  #met(item: Item): Item | typeof PASSED {
    this.#position++;
    if (this.#toPass === 0) return item;
    this.#toPass--;
    return PASSED;
  }

  #nextObject(): ManagedObject | undefined {
    const top = this.#top;
    this.#top = undefined;
    if (top !== undefined) return top;
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

// Walks what is below an object in the order of its tree, from a position on, and finds the items of a search.
import type { ManagedObject, TreeQuery, Variable } from '../../model.js';
import type { TrackableItem } from '../read/tree-walk.js';

/** In the order of the tree. */
export function* objectsBelow(top: ManagedObject): Generator<ManagedObject, void> {
  yield top;
  const levels = [top.children[Symbol.iterator]()];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const next = level.next();
    if (next.done === true) {
      levels.pop();
      continue;
    }
    yield next.value;
    const { children } = next.value;
    if (children.size > 0) levels.push(children[Symbol.iterator]());
  }
}

/** The fields of an item that can be searched; the costly ones are asked for when they are needed. */
export interface Fields {
  readonly object: string;
  readonly className: string;
  /** Undefined for objects. */
  readonly variable: string | undefined;
  readonly metrics: () => readonly string[];
  readonly value: () => string;
}

/** Id and class of an object, also in lower case. */
interface LoweredObject {
  readonly name: string;
  readonly className: string;
  readonly lower: string;
  readonly lowerClass: string;
}

/** Finds words in fields, whatever the case of their letters. */
export class Search {
  readonly #words: readonly string[];
  readonly #field: TreeQuery['field'];
  /** The last object's id and class, which the next item mostly has, too. */
  #object: LoweredObject = { name: '', className: '', lower: '', lowerClass: '' };

  constructor({ words, field }: Pick<TreeQuery, 'words' | 'field'>) {
    this.#words = words;
    this.#field = field;
  }

  /** Whether each word occurs in one of the chosen fields. */
  fits(fields: Fields): boolean {
    return this.#words.every((word) => this.#has(word, fields));
  }

  #has(word: string, { object, className, variable, metrics, value }: Fields): boolean {
    const { lower, lowerClass } = this.#lowered(object, className);
    return (
      (this.#asks('object') && lower.includes(word)) ||
      (this.#asks('class') && lowerClass.includes(word)) ||
      (this.#asks('variable') && variable?.toLowerCase().includes(word) === true) ||
      (this.#asks('metric') && metrics().some((each) => each.toLowerCase().includes(word))) ||
      (this.#asks('value') && value().toLowerCase().includes(word))
    );
  }

  #asks(name: TreeQuery['field']): boolean {
    return this.#field === 'any' || this.#field === name;
  }

  #lowered(name: string, className: string): LoweredObject {
    const known = this.#object;
    if (known.name === name && known.className === className) return known;
    const [lower, lowerClass] = [name.toLowerCase(), className.toLowerCase()];
    return (this.#object = { name, className, lower, lowerClass });
  }
}

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
  next(): TrackableItem | typeof PASSED | undefined {
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

  #met(item: TrackableItem): TrackableItem | typeof PASSED {
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

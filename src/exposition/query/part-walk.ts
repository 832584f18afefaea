// Walks the nodes below an object in tree order from a position, and searches their fields.
import type { ManagedObject, TreeQuery } from '../../model.js';
import type { TreeNode } from '../read/tree-walk.js';

/** Yields an object and all objects below it, in tree order. */
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

/** The searchable fields of a node. The functions compute costly fields on demand. */
export interface SearchFields {
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

/** Finds words in fields, ignoring case. */
export class Search {
  readonly #words: readonly string[];
  readonly #field: TreeQuery['field'];
  /** Caches the last object, since the next node usually belongs to the same object. */
  #object: LoweredObject = { name: '', className: '', lower: '', lowerClass: '' };

  constructor({ words, field }: Pick<TreeQuery, 'words' | 'field'>) {
    this.#words = words;
    this.#field = field;
  }

  /** Whether each word occurs in one of the chosen fields. */
  matches(fields: SearchFields): boolean {
    return this.#words.every((word) => this.#has(word, fields));
  }

  #has(word: string, { object, className, variable, metrics, value }: SearchFields): boolean {
    const { lower, lowerClass } = this.#lowered(object, className);
    return (
      (this.#searches('object') && lower.includes(word)) ||
      (this.#searches('class') && lowerClass.includes(word)) ||
      (this.#searches('variable') && variable?.toLowerCase().includes(word) === true) ||
      (this.#searches('metric') && metrics().some((each) => each.toLowerCase().includes(word))) ||
      (this.#searches('value') && value().toLowerCase().includes(word))
    );
  }

  #searches(name: TreeQuery['field']): boolean {
    return this.#field === 'any' || this.#field === name;
  }

  #lowered(name: string, className: string): LoweredObject {
    const known = this.#object;
    if (known.name === name && known.className === className) return known;
    const [lower, lowerClass] = [name.toLowerCase(), className.toLowerCase()];
    return (this.#object = { name, className, lower, lowerClass });
  }
}

/** An object or variable, with its position in the order of the tree. */
interface PositionedNode {
  readonly node: TreeNode;
  readonly position: number;
}

/**
 * Yields an object and all nodes below it, from a position on. An object comes before its variables, and its variables
 * come before the objects below it. Yields undefined for each step that only skips nodes before the position.
 */
export function* nodesFrom(
  top: ManagedObject,
  from: number,
): Generator<PositionedNode | undefined, void> {
  let position = 0;
  for (const object of objectsBelow(top)) {
    const { variables } = object;
    if (from - position > variables.size) {
      position += variables.size + 1;
      yield undefined;
      continue;
    }
    yield position < from ? undefined : { node: object, position };
    position++;
    for (const variable of variables) {
      yield position < from ? undefined : { node: variable, position };
      position++;
    }
  }
}

// What a look at a tree searches for: words, in the fields of objects and variables.
import type { TreeQuestion } from '../../model.js';

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
  readonly #field: TreeQuestion['field'];
  /** The last object's id and class, which the next item mostly has, too. */
  #object: LoweredObject = { name: '', className: '', lower: '', lowerClass: '' };

  constructor({ words, field }: Pick<TreeQuestion, 'words' | 'field'>) {
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

  #asks(name: TreeQuestion['field']): boolean {
    return this.#field === 'any' || this.#field === name;
  }

  #lowered(name: string, className: string): LoweredObject {
    const known = this.#object;
    if (known.name === name && known.className === className) return known;
    const [lower, lowerClass] = [name.toLowerCase(), className.toLowerCase()];
    return (this.#object = { name, className, lower, lowerClass });
  }
}

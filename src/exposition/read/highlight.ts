// The value of the variable that the operator chose by its path.
import type { Frame, ManagedObject, Source, Variable } from '../../model.js';
import { NamedVariable } from './named-variable.js';
import { syncedWord } from './slot-pages.js';
import { exactOf } from './slot-value.js';
import { isFramed } from '../../published.js';

/** The value of a variable. */
interface Reading {
  /**
   * The exact value of a scalar: all but f64 are bigints. The count of a histogram or summary. 1
   * for a text.
   */
  readonly value: number | bigint;
  /** The text of a string variable. */
  readonly text?: string;
}

export interface HighlightedValue extends Reading {
  /** As configured. */
  readonly path: string;
}

export class Highlight {
  readonly #source: Source;
  readonly #path: string;
  readonly #named: NamedVariable;
  #shown: { readonly variable: Variable; readonly value: HighlightedValue } | undefined;
  readonly #bits = Buffer.alloc(8);
  readonly #word = Buffer.alloc(4);

  /**
   * @param path a full path, which begins with the root's id and a dot, or one relative to the root
   */
  constructor(source: Source, root: ManagedObject, path: string) {
    this.#source = source;
    this.#path = path;
    this.#named = new NamedVariable(root, path);
  }

  addObject(object: ManagedObject): void {
    this.#named.addObject(object);
  }

  addVariable(variable: Variable): void {
    this.#named.addVariable(variable);
  }

  removeObject(object: ManagedObject): void {
    this.#named.removeObject(object);
  }

  removeVariable(variable: Variable): void {
    this.#named.removeVariable(variable);
  }

  /**
   * The current value: the same object as before while nothing changed. Undefined while the
   * variable does not exist or is not synced. If a frame cannot be copied whole, the variable keeps
   * its last value.
   */
  read(): HighlightedValue | undefined {
    const variable = this.#named.find();
    const reading = variable === undefined ? undefined : this.#readingOf(variable);
    if (variable === undefined || reading === undefined) return (this.#shown = undefined);
    const last = this.#shown?.value;
    const value =
      last !== undefined && isSame(last, reading) ? last : { path: this.#path, ...reading };
    this.#shown = { variable, value };
    return value;
  }

  /** A value is valid if the word said so before and after the copy (segment-format.md, 9). */
  #readingOf(variable: Variable): Reading | undefined {
    if (!this.#isSynced(variable)) return undefined;
    const reading = isFramed(variable.type) ? this.#frameOf(variable) : this.#scalarOf(variable);
    return this.#isSynced(variable) ? reading : undefined;
  }

  #scalarOf(variable: Variable): Reading | undefined {
    if (this.#source.readSlots(variable.slot, 1, this.#bits) < 1) return undefined;
    return { value: exactOf(this.#bits.readBigUInt64LE(), variable) };
  }

  #frameOf(variable: Variable): Reading | undefined {
    const frame = this.#source.readFrame(variable);
    if (frame !== undefined) return readingOfFrame(frame);
    return this.#shown?.variable.id === variable.id ? this.#shown.value : undefined;
  }

  #isSynced({ slot, incarnation }: Variable): boolean {
    const words = this.#source.readWords(slot, 1, this.#word);
    return words === 1 && this.#word.readUInt32LE() === syncedWord(incarnation);
  }
}

const isSame = (a: Reading, b: Reading): boolean =>
  Object.is(a.value, b.value) && a.text === b.text;

function readingOfFrame(frame: Frame): Reading {
  if (frame.type === 'string') return { value: 1, text: frame.text };
  if (frame.type === 'summary') return { value: frame.count };
  return { value: frame.counts.reduce((sum, count) => sum + count, 0n) };
}

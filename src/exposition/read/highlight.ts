// What the variable says that an operator singled out by its path.
import type { Frame, ManagedObject, Source, Variable } from '../../model.js';
import { NamedVariable } from './named-variable.js';
import { syncedWord } from './probe.js';
import { exactOf, isFramed } from './slot-value.js';

/** What a variable holds. */
interface Reading {
  /**
   * The value of a scalar, exact: all but f64 are bigints. The observations of a histogram or
   * summary. 1 for a text.
   */
  readonly value: number | bigint;
  /** What a text says. */
  readonly text?: string;
}

export interface HighlightedValue extends Reading {
  /** As it was configured. */
  readonly path: string;
}

export class Highlight {
  readonly #source: Source;
  readonly #path: string;
  readonly #named: NamedVariable;
  #shown: { readonly variable: Variable; readonly value: HighlightedValue } | undefined;
  readonly #bits = Buffer.alloc(8);
  readonly #word = Buffer.alloc(4);

  /** @param path a full one, which begins with the root's id and a dot, or one from the root on */
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
   * The value at this moment: the same object as before while nothing changed. Undefined while
   * there is no such variable or it is not synced. A frame that cannot be copied whole keeps the
   * last value that the same variable had.
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

  /** A value counts when the word said so before and after it was copied (segment-format.md, 9). */
  #readingOf(variable: Variable): Reading | undefined {
    if (!this.#isSynced(variable)) return undefined;
    const reading = isFramed(variable) ? this.#frameOf(variable) : this.#scalarOf(variable);
    return this.#isSynced(variable) ? reading : undefined;
  }

  #scalarOf(variable: Variable): Reading | undefined {
    if (this.#source.readSlots(variable.slot, 1, this.#bits) < 1) return undefined;
    return { value: exactOf(this.#bits.readBigUInt64LE(), variable) };
  }

  #frameOf(variable: Variable): Reading | undefined {
    const frame = this.#source.readFrame(variable);
    if (frame !== undefined) return readingOfFrame(frame);
    return this.#shown?.variable === variable ? this.#shown.value : undefined;
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

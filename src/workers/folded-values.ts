// The values of a folded tree: reads the values of workers, and folds those of equal variables.
import { fold, sumOf, withSum, withoutQuantiles } from '../foreign/fold.js';
import type { FoldRule, InputValue } from '../foreign/fold.js';
import type { SlotWriter } from '../foreign/polled-source.js';
import type { Source, Variable } from '../model.js';
import { isFramed } from '../published.js';
import type { ValueType } from '../published.js';

/** A variable of a worker, with the last value that was read. */
export interface Input {
  readonly variable: Variable;
  readonly folded: FoldedVariable;
  /** The halves of its slot at the last read; -1 before the first value. */
  low: number;
  high: number;
  value: InputValue | undefined;
}

/** A variable of the folded tree. */
export interface FoldedVariable {
  readonly variable: Variable;
  readonly writer: SlotWriter;
  /** The variables of the object that has it, by name. */
  readonly siblings: Map<string, FoldedVariable>;
  readonly rule: FoldRule;
  /** Whether the values of inputs that have ended stay in the sum. */
  readonly isCounter: boolean;
  readonly inputs: Set<Input>;
  /** The sum of the inputs that have ended. */
  ended: InputValue | undefined;
  /** The last sum of doubles that was shown. */
  shown: number;
}

/** The values of a worker to read. */
export interface WorkerInputs {
  readonly source: Source;
  readonly inputs: ReadonlyMap<number, Input>;
  /** The number of slots to read. */
  readonly slots: number;
}

/** The relative error of a sum of doubles whose terms are added in another order. */
const ROUNDING = 1e-9;

/** Reads the slots of workers into buffers that all workers share. */
export class InputReader {
  #values = new Uint32Array();
  #words = new Uint32Array();
  /** The words before the values were read. */
  #former = new Uint32Array();

  /**
   * Reads the values of a worker. If the segment cannot be read, the last values stay.
   * @param changed gets the variables to fold again
   */
  read({ source, inputs, slots }: WorkerInputs, changed: Set<FoldedVariable>): void {
    if (this.#words.length < slots) {
      this.#values = new Uint32Array(2 * slots);
      this.#words = new Uint32Array(slots);
      this.#former = new Uint32Array(slots);
    }
    const [values, words, former] = [this.#values, this.#words, this.#former];
    let read: number;
    try {
      read = Math.min(
        source.readWords(0, slots, new Uint8Array(former.buffer, 0, slots * 4)),
        source.readSlots(0, slots, new Uint8Array(values.buffer, 0, slots * 8)),
        source.readWords(0, slots, new Uint8Array(words.buffer, 0, slots * 4)),
      );
    } catch {
      return;
    }
    for (const input of inputs.values()) {
      const { slot, incarnation, type } = input.variable;
      const [low = 0, high = 0] = [values[2 * slot], values[2 * slot + 1]];
      const word = words[slot] ?? 0;
      if (slot >= read || word >>> 1 !== incarnation) continue;
      if ((word & 1) === 0) {
        // The series of the worker has ended. A count stays.
        if (input.value === undefined || input.folded.isCounter) continue;
        Object.assign(input, { value: undefined, low: -1, high: -1 });
        changed.add(input.folded);
        continue;
      }
      // A variable that got the slot meanwhile has no value yet: the slot had the value of another one.
      if (former[slot] !== word) continue;
      if (low === input.low && high === input.high) continue;
      const value = isFramed(type)
        ? source.readFrame(input.variable)
        : (BigInt(high) << 32n) | BigInt(low);
      if (value === undefined) continue;
      input.value = withoutQuantiles(value);
      input.low = low;
      input.high = high;
      changed.add(input.folded);
    }
  }
}

/** Adds the last value of an input that has ended to the sum of its variable. */
export function keepCount({ folded, value, variable: { type } }: Input): void {
  if (value === undefined || isNaNDouble(type, value)) return;
  folded.ended = folded.ended === undefined ? value : fold(type, 'sum', folded.ended, value);
}

/** The value of a folded variable; undefined if it has none. */
export function foldedValue(folded: FoldedVariable): InputValue | undefined {
  const { variable, rule, inputs, ended, isCounter } = folded;
  let result = ended;
  for (const { value } of inputs)
    if (value !== undefined)
      result = result === undefined ? value : fold(variable.type, rule, result, value);
  return isCounter && result !== undefined ? withoutRounding(folded, result) : result;
}

/** Keeps the last sum of doubles if the new one is lower by a rounding error: a scraper would see a reset. */
function withoutRounding(folded: FoldedVariable, value: InputValue): InputValue {
  const sum = sumOf(folded.variable.type, value);
  if (sum === undefined) return value;
  const isError = sum < folded.shown && folded.shown - sum <= Math.abs(sum) * ROUNDING;
  if (!isError) folded.shown = sum;
  return isError ? withSum(value, folded.shown) : value;
}

const isNaNDouble = (type: ValueType, value: InputValue): boolean =>
  type === 'f64' && Number.isNaN(sumOf(type, value));

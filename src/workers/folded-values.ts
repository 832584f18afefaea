// The values of a folded tree: reads the values of workers, and folds those of equal variables.
import { fold, sumOf, withSum, withoutQuantiles, withoutRounding } from '../foreign/fold.js';
import type { FoldRule, InputValue } from '../foreign/fold.js';
import type { SlotWriter } from '../foreign/polled-source.js';
import type { Source, Variable } from '../model.js';
import { isFramed } from '../published.js';
import type { ValueType } from '../published.js';
import { runToEnd } from '../run-to-end.js';

/** A variable of a worker, with the last value that was read. */
export interface Input {
  readonly variable: Variable;
  readonly folded: FoldedVariable;
  /** The halves of its slot at the last read; -1 before the first value. */
  low: number;
  high: number;
  value: InputValue | undefined;
  /** The number of the last read; 0 before the first one. */
  read: number;
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

/** Copies of the slots of a worker. */
interface SlotBuffers {
  readonly values: Uint32Array;
  /** The words before and after the values were read. */
  readonly former: Uint32Array;
  readonly words: Uint32Array;
}

/** After comparing this many inputs with their last values, a step ends. */
const INPUTS_A_STEP = 1024;

/** Reads the slots of workers into buffers that it reuses. */
export class InputReader {
  /** The buffers that no read uses now. Reads that overlap have buffers of their own. */
  readonly #free: SlotBuffers[] = [];
  #reads = 0;

  /**
   * Reads the values of a worker in one step. If the segment cannot be read, the last values stay.
   * @param changed gets the variables to fold again
   */
  read(worker: WorkerInputs, changed: Set<FoldedVariable>): void {
    runToEnd(this.reading(worker, changed));
  }

  /** Like `read`, in small steps. Between them, inputs of the worker may come and go. */
  *reading(
    { source, inputs, slots }: WorkerInputs,
    changed: Set<FoldedVariable>,
  ): Generator<void, void> {
    const last = this.#free.pop();
    const buffers = last !== undefined && last.words.length >= slots ? last : newBuffers(slots);
    const { values, words, former } = buffers;
    const number = ++this.#reads;
    let read: number;
    let compared = 0;
    try {
      read = Math.min(
        source.readWords(0, slots, new Uint8Array(former.buffer, 0, slots * 4)),
        source.readSlots(0, slots, new Uint8Array(values.buffer, 0, slots * 8)),
        source.readWords(0, slots, new Uint8Array(words.buffer, 0, slots * 4)),
      );
    } catch {
      this.#free.push(buffers);
      return;
    }
    for (const input of inputs.values()) {
      if (++compared % INPUTS_A_STEP === 0) yield;
      // A later read was faster.
      if (input.read > number) continue;
      input.read = number;
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
    this.#free.push(buffers);
  }
}

const newBuffers = (slots: number): SlotBuffers => ({
  values: new Uint32Array(2 * slots),
  former: new Uint32Array(slots),
  words: new Uint32Array(slots),
});

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
  return isCounter && result !== undefined ? withLastSum(folded, result) : result;
}

/** Keeps the last sum of doubles if the new one is lower by a rounding error. */
function withLastSum(folded: FoldedVariable, value: InputValue): InputValue {
  const sum = sumOf(folded.variable.type, value);
  if (sum === undefined) return value;
  folded.shown = withoutRounding(sum, folded.shown);
  return folded.shown === sum ? value : withSum(value, folded.shown);
}

const isNaNDouble = (type: ValueType, value: InputValue): boolean =>
  type === 'f64' && Number.isNaN(sumOf(type, value));

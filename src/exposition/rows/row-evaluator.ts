// Evaluates rows: gives a row the values of its variables and returns the series.
import { UNCHANGED } from '../../catalogue/row.js';
import type {
  Conversion,
  ValueReference,
  RowInput,
  Row,
  RowOutput,
  BoundsOrQuantiles,
  RowContext,
} from '../../catalogue/row.js';
import type { Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { decimalOf, opcodeOf } from '../read/slot-value.js';
import type { PointInTime } from '../read/time.js';
import { seriesText } from '../text/text-syntax.js';
import { Distribution } from './distribution.js';
import type { FrameCopies } from './distribution.js';
import type { LabelText } from './labels.js';
import type { ObservedVariables } from './observed.js';
import type { BoundObjects } from './bound-objects.js';
import type { SeriesRegistry } from './series-registry.js';

export interface EvaluatorParts {
  readonly kernel: Kernel;
  readonly slotReader: SlotReader;
  readonly objects: BoundObjects;
  readonly frames: FrameCopies;
  readonly observed: ObservedVariables;
  readonly registry: SeriesRegistry;
  readonly times: PointInTime;
}

/**
 * Evaluates the rows of a target, one after the other. All rows share one context, so that a million rows do not
 * leave a million contexts as garbage.
 */
export class RowEvaluator implements RowContext {
  readonly #parts: EvaluatorParts;
  /** The variable of the current call of `evaluate`. */
  variable!: Variable;
  #row!: Row;
  #labels!: LabelText;
  /** Whether the row is evaluated as if `variable` had no value, because it was unsynced, removed or replaced. */
  #losesValue = false;

  constructor(parts: EvaluatorParts) {
    this.#parts = parts;
  }

  /**
   * The series that a row shows for a variable; none if the row does not read variables of this type.
   * @param losesValue whether to evaluate the row as if the variable had no value
   */
  evaluate(row: Row, labels: LabelText, variable: Variable, losesValue: boolean): RowOutput {
    this.variable = variable;
    this.#row = row;
    this.#labels = labels;
    this.#losesValue = losesValue;
    const { inputs } = row;
    // A row with several inputs looks up each variable by name, and checks its type there.
    return inputs.length === 1 && !readsType(inputs[0], variable) ? [] : row.series(this);
  }

  named(name: string): Variable | undefined {
    const { objects, slotReader } = this.#parts;
    const variable = objects.current(this.variable.object, name);
    if (variable === undefined || (this.#losesValue && variable.id === this.variable.id))
      return undefined;
    const input = this.#row.inputs.find((each) => each.variable === name);
    return readsType(input, variable) && slotReader.isSynced(variable) ? variable : undefined;
  }

  text(variable: Variable): string | undefined {
    const { slotReader, frames } = this.#parts;
    if (!isFramed(variable.type)) {
      const bits = slotReader.bits(variable);
      return bits === undefined ? undefined : decimalOf(bits, variable);
    }
    const frame = frames.of(variable);
    return frame?.type === 'string' ? frame.text : undefined;
  }

  seconds(text: string): number | undefined {
    return this.#parts.times.unixSeconds(text);
  }

  reference(
    variable: Variable,
    conversion = UNCHANGED,
    wrap32 = false,
  ): ValueReference | undefined {
    const unscaled = opcodeOf(variable, wrap32);
    if (unscaled === undefined) return undefined;
    const { kernel, slotReader, registry } = this.#parts;
    const opcode = kernel.scales.scaledOpcode(unscaled, conversion);
    if (opcode === undefined) registry.countOmitted();
    return opcode === undefined
      ? undefined
      : { address: slotReader.address(variable.slot), opcode };
  }

  distribution(shapeOf: () => BoundsOrQuantiles, conversion: Conversion): RowOutput {
    const { kernel, frames } = this.#parts;
    const row = this.#row;
    const frame = frames.of(this.variable);
    if (frame === undefined) return [];
    const shown = frames.distributionOf(this.variable, row);
    shown?.setFrame(frame);
    if (shown !== undefined) return 'unchanged';
    const distribution = new Distribution(kernel, shapeOf(), conversion);
    distribution.setFrame(frame);
    frames.setDistribution(this.variable, row, distribution);
    return distribution.series;
  }

  observed(shape: BoundsOrQuantiles, conversion: Conversion): RowOutput {
    if (isFramed(this.variable.type)) return [];
    const series = seriesText(this.#row.family.name, this.#labels.text);
    return this.#parts.observed.show(this.variable, shape, conversion, series);
  }
}

const readsType = (input: RowInput | undefined, { type }: Variable): boolean =>
  input === undefined || input.types.includes(type);

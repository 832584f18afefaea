// Turns the tracked objects and variables of one target into series, as the rows of the catalogue define.
import type { PathLabels, Uncatalogued } from '../../catalogue/match/filters.js';
import type { RowIndex } from '../../catalogue/match/row-index.js';
import { UNCHANGED } from '../../catalogue/row.js';
import type {
  BoundsOrQuantiles,
  Conversion,
  Row,
  RowContext,
  RowInput,
  RowOutput,
  ValueReference,
} from '../../catalogue/row.js';
import { OBJECT_STATES } from '../../model.js';
import type { ManagedObject, Source, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { Counters } from '../counters.js';
import type { Cost } from '../../budget.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { decimalOf, opcodeOf } from '../read/slot-value.js';
import { PointInTime } from '../read/time.js';
import type { OnOmitted, TargetUsage } from '../target-limits.js';
import { seriesText } from '../text/text-syntax.js';
import { Distribution, FrameCopies } from './distribution.js';
import type { LabelText } from './labels.js';
import { ObservedVariables } from './observed.js';
import { BoundObjects } from './bound-objects.js';
import type { SeriesRegistry } from './series-registry.js';

export interface BuilderParts {
  readonly app: string;
  readonly root: ManagedObject;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly slotReader: SlotReader;
  readonly registry: SeriesRegistry;
  readonly cost: Cost;
  readonly counters: Counters;
  readonly usage: TargetUsage;
  readonly onOmitted: OnOmitted | undefined;
  /** Undefined if the application has no catalogue. */
  readonly rowIndex: RowIndex | undefined;
  /** Set if variables without a catalogue row are shown as well. */
  readonly uncatalogued: Uncatalogued | undefined;
  /** Labels that are added to series without a catalogue row. */
  readonly pathLabels: PathLabels;
  /** The time zone of times written as text: an IANA name, or '' for the zone of the process. */
  readonly timeZone: string;
}

/**
 * Evaluates rows one after the other. The builder is the context of all rows, so that a million rows do not leave a
 * million contexts as garbage.
 */
export class MetricBuilder implements RowContext {
  readonly observations: ObservedVariables;
  readonly objects: BoundObjects;
  readonly frames: FrameCopies;
  readonly #slotReader: SlotReader;
  readonly #registry: SeriesRegistry;
  readonly #kernel: Kernel;
  readonly #times: PointInTime;
  readonly #hideReplaced = (former: Variable): void => {
    this.#hide(former);
  };
  // Callbacks for the rows of a variable, created once instead of for each of a million variables.
  readonly #show = (row: Row, labels: LabelText, variable: Variable): void => {
    this.#update(row, labels, variable, false);
  };
  readonly #showNew = (row: Row, labels: LabelText, variable: Variable): void => {
    if (row.isComputed) this.#slotReader.reportChangesOf(variable);
    this.#update(row, labels, variable, false);
  };
  readonly #showComputed = (row: Row, labels: LabelText, variable: Variable): void => {
    if (row.isComputed) this.#update(row, labels, variable, false);
  };
  /** Removes the series that need the variable. A row that reads several variables keeps its other series. */
  readonly #hideLines = (row: Row, labels: LabelText, variable: Variable): void => {
    if (isShared(row)) this.#update(row, labels, variable, true);
    else this.#registry.set(row, labels, variable.id, [], row.linesOf(variable));
  };

  /** The variable that a row is evaluated for. */
  variable!: Variable;
  #row!: Row;
  #labels!: LabelText;
  /** Whether the row is evaluated as if `variable` had no value, because it was unsynced, removed or replaced. */
  #losesValue = false;

  constructor(parts: BuilderParts) {
    const { kernel, slotReader, registry } = parts;
    this.#kernel = kernel;
    this.#slotReader = slotReader;
    this.#registry = registry;
    this.objects = new BoundObjects(parts);
    this.frames = new FrameCopies(parts);
    this.observations = new ObservedVariables(kernel, slotReader);
    this.#times = new PointInTime(parts.timeZone);
  }

  addObject(object: ManagedObject): void {
    this.objects.bind(object);
  }

  removeObject(object: ManagedObject): void {
    this.objectUnsynced(object);
    this.objects.unbind(object);
  }

  /** The latest variable of each name in an object. The caller must remove these variables before the object. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    return this.objects.variablesOf(object);
  }

  /** Adds a variable. It replaces an earlier variable of the same name in its object. */
  addVariable(variable: Variable): void {
    this.objects.add(variable, this.#hideReplaced);
  }

  removeVariable(variable: Variable): void {
    this.#hide(variable);
    const earlier = this.objects.remove(variable);
    if (earlier !== undefined && this.#slotReader.isSynced(earlier)) this.variableSynced(earlier);
  }

  objectSynced(object: ManagedObject): void {
    const states = this.objects.statesOf(object);
    if (states.length === 0) return;
    // Start the comparison only now, so that it starts with the bits that the lines show.
    this.#slotReader.reportChangesOf(object);
    const number = Number(this.#slotReader.bits(object) ?? -1n);
    const state = OBJECT_STATES[number] ?? '';
    for (const { row, labels } of states)
      this.#registry.set(row, labels, object.id, row.ofState?.(state) ?? [], row.linesOf());
  }

  objectUnsynced(object: ManagedObject): void {
    const states = this.objects.statesOf(object);
    if (states.length === 0) return;
    this.#slotReader.ignoreChangesOf(object);
    for (const { row, labels } of states)
      this.#registry.set(row, labels, object.id, [], row.linesOf());
  }

  objectChanged(object: ManagedObject): void {
    if (this.#slotReader.isSynced(object)) this.objectSynced(object);
  }

  variableSynced(variable: Variable): void {
    if (!isFramed(variable.type)) {
      this.objects.each(variable, this.#showNew);
      return;
    }
    if (this.objects.hasComputed(variable)) {
      this.#slotReader.reportChangesOf(variable);
      if (!this.frames.copy(variable)) return;
    }
    this.objects.each(variable, this.#show);
  }

  variableUnsynced(variable: Variable): void {
    this.#hide(variable);
  }

  /** Evaluates the computed rows of a variable again after a change. */
  variableChanged(variable: Variable): void {
    if (!this.#slotReader.isSynced(variable)) return;
    if (isFramed(variable.type) && !this.frames.copyAgain(variable)) return;
    this.objects.each(variable, this.#showComputed);
  }

  named(name: string): Variable | undefined {
    const slotReader = this.#slotReader;
    const variable = this.objects.current(this.variable.object, name);
    if (variable === undefined || (this.#losesValue && variable.id === this.variable.id))
      return undefined;
    const input = this.#row.inputs.find((each) => each.variable === name);
    return readsType(input, variable) && slotReader.isSynced(variable) ? variable : undefined;
  }

  text(variable: Variable): string | undefined {
    if (!isFramed(variable.type)) {
      const bits = this.#slotReader.bits(variable);
      return bits === undefined ? undefined : decimalOf(bits, variable);
    }
    const frame = this.frames.of(variable);
    return frame?.type === 'string' ? frame.text : undefined;
  }

  seconds(text: string): number | undefined {
    return this.#times.unixSeconds(text);
  }

  reference(
    variable: Variable,
    conversion = UNCHANGED,
    wrap32 = false,
  ): ValueReference | undefined {
    const unscaled = opcodeOf(variable, wrap32);
    if (unscaled === undefined) return undefined;
    const opcode = this.#kernel.scales.scaledOpcode(unscaled, conversion);
    if (opcode === undefined) this.#registry.countOmitted();
    return opcode === undefined
      ? undefined
      : { address: this.#slotReader.address(variable.slot), opcode };
  }

  distribution(shapeOf: () => BoundsOrQuantiles, conversion: Conversion): RowOutput {
    const { frames } = this;
    const row = this.#row;
    const frame = frames.of(this.variable);
    if (frame === undefined) return [];
    const shown = frames.distributionOf(this.variable, row);
    shown?.setFrame(frame);
    if (shown !== undefined) return 'unchanged';
    const distribution = new Distribution(this.#kernel, shapeOf(), conversion);
    distribution.setFrame(frame);
    frames.setDistribution(this.variable, row, distribution);
    return distribution.series;
  }

  observed(shape: BoundsOrQuantiles, conversion: Conversion): RowOutput {
    if (isFramed(this.variable.type)) return [];
    const series = seriesText(this.#row.family.name, this.#labels.text);
    return this.observations.show(this.variable, shape, conversion, series);
  }

  *closing(): Generator<void, void> {
    yield* this.observations.closing();
    yield* this.frames.closing();
    yield* this.objects.closing();
  }

  #update(row: Row, labels: LabelText, variable: Variable, losesValue: boolean): void {
    const shown = this.#evaluate(row, labels, variable, losesValue);
    const nodeId = isShared(row) ? variable.object.id : variable.id;
    this.#registry.set(row, labels, nodeId, shown, row.linesOf(variable));
  }

  /**
   * The series that a row shows for a variable; none if the row does not read variables of this type.
   * @param losesValue whether to evaluate the row as if the variable had no value
   */
  #evaluate(row: Row, labels: LabelText, variable: Variable, losesValue: boolean): RowOutput {
    this.variable = variable;
    this.#row = row;
    this.#labels = labels;
    this.#losesValue = losesValue;
    const { inputs } = row;
    // A row with several inputs looks up each variable by name, and checks its type there.
    return inputs.length === 1 && !readsType(inputs[0], variable) ? [] : row.series(this);
  }

  #hide(variable: Variable): void {
    this.objects.each(variable, this.#hideLines);
    this.#slotReader.ignoreChangesOf(variable);
    this.frames.delete(variable);
    this.observations.delete(variable);
  }
}

/** Whether the row's series come from several variables of one object. */
const isShared = ({ inputs }: Row): boolean => inputs.length > 1;

const readsType = (input: RowInput | undefined, { type }: Variable): boolean =>
  input === undefined || input.types.includes(type);

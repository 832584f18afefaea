// Turns the tracked objects and variables of one target into series, as the rows of the catalogue define.
import type { PathLabels, Uncatalogued } from '../../catalogue/match/filters.js';
import type { RowIndex } from '../../catalogue/match/row-index.js';
import type { Row } from '../../catalogue/row.js';
import { OBJECT_STATES } from '../../model.js';
import type { ManagedObject, Source, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { Counters } from '../counters.js';
import type { Cost } from '../../budget.js';
import type { Kernel } from '../wasm/kernel.js';
import type { SlotReader } from '../read/slot-reader.js';
import { PointInTime } from '../read/time.js';
import type { OnOmitted, TargetUsage } from '../target-limits.js';
import { FrameCopies } from './distribution.js';
import type { LabelText } from './labels.js';
import { ObservedVariables } from './observed.js';
import { RowEvaluator } from './row-evaluator.js';
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

export class MetricBuilder {
  readonly observed: ObservedVariables;
  readonly objects: BoundObjects;
  readonly frames: FrameCopies;
  readonly #slotReader: SlotReader;
  readonly #registry: SeriesRegistry;
  readonly #evaluator: RowEvaluator;
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

  constructor({ timeZone, ...below }: BuilderParts) {
    const { kernel, slotReader, registry } = below;
    const objects = new BoundObjects(below);
    const frames = new FrameCopies(below);
    const observed = new ObservedVariables(kernel, slotReader);
    const times = new PointInTime(timeZone);
    const parts = { kernel, slotReader, objects, frames, observed, registry, times };
    this.#evaluator = new RowEvaluator(parts);
    this.observed = observed;
    this.#slotReader = slotReader;
    this.objects = objects;
    this.frames = frames;
    this.#registry = registry;
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

  *closing(): Generator<void, void> {
    yield* this.observed.closing();
    yield* this.frames.closing();
    yield* this.objects.closing();
  }

  #update(row: Row, labels: LabelText, variable: Variable, losesValue: boolean): void {
    const shown = this.#evaluator.evaluate(row, labels, variable, losesValue);
    const nodeId = isShared(row) ? variable.object.id : variable.id;
    this.#registry.set(row, labels, nodeId, shown, row.linesOf(variable));
  }

  #hide(variable: Variable): void {
    this.objects.each(variable, this.#hideLines);
    this.#slotReader.ignoreChangesOf(variable);
    this.frames.delete(variable);
    this.observed.delete(variable);
  }
}

/** Whether the row's series come from several variables of one object. */
const isShared = ({ inputs }: Row): boolean => inputs.length > 1;

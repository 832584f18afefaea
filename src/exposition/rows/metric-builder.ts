// Turns the tracked objects and variables of one target into series, by catalogue rows.
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { PathLabels, Uncatalogued } from '../../catalogue/match/filters.js';
import type { Rules } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import { OBJECT_STATES } from '../../model.js';
import type { ManagedObject, Source, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { Counters } from '../counters.js';
import type { Cost } from '../../budget.js';
import type { Kernel } from '../wasm/kernel.js';
import { MetricExplainer } from '../query/explain.js';
import type { SlotReader } from '../read/slot-reader.js';
import { PointInTime } from '../read/time.js';
import type { OnOmitted, TargetUsage } from '../target-limits.js';
import type { CatalogueCoverage } from './catalogue-coverage.js';
import { Frames } from './distribution.js';
import { TargetScales } from '../wasm/kernel-tables.js';
import { RowLabels } from './labels.js';
import type { LabelText } from './labels.js';
import { Observations } from './observed.js';
import { RowLines } from './row-lines.js';
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
  /** Both undefined for an application without a catalogue. */
  readonly catalogue: Catalogue | undefined;
  readonly rules: Rules | undefined;
  /** Set if variables without a row of the catalogue are shown as well. */
  readonly uncatalogued: Uncatalogued | undefined;
  /** Further labels of series without a row. */
  readonly pathLabels: PathLabels;
  /** The time zone of times written as text: an IANA name, or '' for that of the process. */
  readonly timeZone: string;
}

export class MetricBuilder {
  readonly observations: Observations;
  readonly explainer: MetricExplainer;
  readonly #slotReader: SlotReader;
  readonly #objects: BoundObjects;
  readonly #frames: Frames;
  readonly #scales: TargetScales;
  readonly #lines: RowLines;
  readonly #context: RowEvaluator;
  readonly #hideFormer = (former: Variable): void => {
    this.#hide(former);
  };
  // Callbacks for the rows of a variable, created once instead of for each of a million variables.
  readonly #show = (row: Row, labels: LabelText, variable: Variable): void => {
    this.#update(row, labels, variable, false);
  };
  readonly #showNew = (row: Row, labels: LabelText, variable: Variable): void => {
    if (row.isComputed) this.#slotReader.watch(variable);
    this.#update(row, labels, variable, false);
  };
  readonly #showComputed = (row: Row, labels: LabelText, variable: Variable): void => {
    if (row.isComputed) this.#update(row, labels, variable, false);
  };
  /** Removes the series that need the variable; a row of several variables keeps its other series. */
  readonly #hideLines = (row: Row, labels: LabelText, variable: Variable): void => {
    if (isShared(row)) this.#update(row, labels, variable, true);
    else this.#lines.set(row, labels, variable.id, [], row.linesOf(variable));
  };

  constructor({ catalogue, timeZone, ...below }: BuilderParts) {
    const { kernel, slotReader, registry } = below;
    const labels = new RowLabels();
    const objects = new BoundObjects({ ...below, labels });
    const frames = new Frames(below);
    const observations = new Observations(kernel, slotReader);
    const scales = new TargetScales(kernel.scales);
    const times = new PointInTime(timeZone);
    const parts = { kernel, slotReader, objects, frames, observations, scales, registry, times };
    this.#context = new RowEvaluator(parts);
    this.observations = observations;
    this.#slotReader = slotReader;
    this.#objects = objects;
    this.#frames = frames;
    this.#scales = scales;
    this.#lines = new RowLines(registry, catalogue);
    const lines = this.#lines;
    const { rules } = below;
    this.explainer = new MetricExplainer({
      objects,
      rules,
      labels,
      lines,
      registry,
      frames,
      slotReader,
    });
  }

  /** Bytes of the framed values that are kept. */
  get frameBytes(): number {
    return this.#frames.bytes;
  }

  /** Values that are left out now. */
  get omitted(): number {
    return this.#frames.leftOut;
  }

  /** How well the catalogue fits what is tracked. */
  get coverage(): CatalogueCoverage {
    return this.#objects.coverage;
  }

  /** Begins a refresh: `variableChanged` is then called for each changed variable. */
  refresh(): void {
    this.#frames.refresh();
  }

  addObject(object: ManagedObject): void {
    if (this.#objects.bind(object).length > 0) this.#slotReader.watch(object);
  }

  removeObject(object: ManagedObject): void {
    this.objectUnsynced(object);
    if (this.#objects.statesOf(object).length > 0) this.#slotReader.unwatch(object);
    this.#objects.unbind(object);
  }

  /** The variables of an object that own their names. They must be removed before the object. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    return this.#objects.variablesOf(object);
  }

  /** Adds a variable; of two variables with one name the later wins. */
  addVariable(variable: Variable): void {
    this.#objects.add(variable, this.#hideFormer);
  }

  removeVariable(variable: Variable): void {
    this.#hide(variable);
    const earlier = this.#objects.remove(variable);
    if (earlier !== undefined && this.#slotReader.isSynced(earlier)) this.variableSynced(earlier);
  }

  objectSynced(object: ManagedObject): void {
    const number = Number(this.#slotReader.bits(object) ?? -1n);
    const state = OBJECT_STATES[number] ?? '';
    for (const { row, labels } of this.#objects.statesOf(object))
      this.#lines.set(row, labels, object.id, row.ofState?.(state) ?? [], row.linesOf());
  }

  objectUnsynced(object: ManagedObject): void {
    for (const { row, labels } of this.#objects.statesOf(object))
      this.#lines.set(row, labels, object.id, [], row.linesOf());
  }

  objectChanged(object: ManagedObject): void {
    if (this.#slotReader.isSynced(object)) this.objectSynced(object);
  }

  variableSynced(variable: Variable): void {
    if (!isFramed(variable.type)) {
      this.#objects.each(variable, this.#showNew);
      return;
    }
    if (this.#objects.hasComputed(variable)) {
      this.#slotReader.watch(variable);
      if (!this.#frames.take(variable)) return;
    }
    this.#objects.each(variable, this.#show);
  }

  variableUnsynced(variable: Variable): void {
    this.#hide(variable);
  }

  /** A watched variable was updated: rebuilds some of its series. */
  variableChanged(variable: Variable): void {
    if (!this.#slotReader.isSynced(variable)) return;
    if (isFramed(variable.type) && !this.#frames.takeAgain(variable)) return;
    this.#objects.each(variable, this.#showComputed);
  }

  *closing(): Generator<void, void> {
    yield* this.observations.closing();
    yield* this.#frames.closing();
    yield* this.#objects.closing();
    this.#scales.close();
  }

  #update(row: Row, labels: LabelText, variable: Variable, losesValue: boolean): void {
    const shown = this.#context.evaluate(row, labels, variable, losesValue);
    const nodeId = isShared(row) ? variable.object.id : variable.id;
    this.#lines.set(row, labels, nodeId, shown, row.linesOf(variable));
  }

  #hide(variable: Variable): void {
    this.#objects.each(variable, this.#hideLines);
    this.#slotReader.unwatch(variable);
    this.#frames.forget(variable);
    this.observations.forget(variable);
  }
}

/** True if the row's series come from several variables of one object. */
const isShared = ({ reads }: Row): boolean => reads.length > 1;

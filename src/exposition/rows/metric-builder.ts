// Turns the tracked objects and variables of one target into series, by catalogue rows.
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { PathLabels, Uncatalogued } from '../../catalogue/match/filters.js';
import type { Rules } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import { OBJECT_STATES } from '../../model.js';
import type { ManagedObject, Source, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import type { Counters } from '../counters.js';
import type { Effort } from '../../budget.js';
import type { Kernel } from '../wasm/kernel.js';
import { MetricExplainer } from '../query/explain.js';
import type { Probe } from '../read/probe.js';
import { PointInTime } from '../read/time.js';
import type { OnOmitted, TargetRoom } from '../target-limits.js';
import type { CatalogueFit } from './catalogue-fit.js';
import { Frames } from './distribution.js';
import { TargetScales } from '../wasm/kernel-tables.js';
import { RowLabels } from './labels.js';
import type { LabelText } from './labels.js';
import { Observations } from './observed.js';
import { RowLines } from './row-lines.js';
import { RowEvaluator } from './row-evaluator.js';
import { RowUses } from './row-uses.js';
import type { SeriesRegister } from './series-register.js';

export interface BuilderParts {
  readonly app: string;
  readonly root: ManagedObject;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly probe: Probe;
  readonly register: SeriesRegister;
  readonly effort: Effort;
  readonly counters: Counters;
  readonly room: TargetRoom;
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
  readonly #probe: Probe;
  readonly #uses: RowUses;
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
    if (row.isDerived) this.#probe.watch(variable);
    this.#update(row, labels, variable, false);
  };
  readonly #showDerived = (row: Row, labels: LabelText, variable: Variable): void => {
    if (row.isDerived) this.#update(row, labels, variable, false);
  };
  /** Removes the series that need the variable; a row of several variables keeps its other series. */
  readonly #hideLines = (row: Row, labels: LabelText, variable: Variable): void => {
    if (isShared(row)) this.#update(row, labels, variable, true);
    else this.#lines.set(row, labels, variable.id, [], row.linesOf(variable));
  };

  constructor({ catalogue, timeZone, ...below }: BuilderParts) {
    const { kernel, probe, register } = below;
    const labels = new RowLabels();
    const uses = new RowUses({ ...below, labels });
    const frames = new Frames(below);
    const observations = new Observations(kernel, probe);
    const scales = new TargetScales(kernel.scales);
    const times = new PointInTime(timeZone);
    const parts = { kernel, probe, uses, frames, observations, scales, register, times };
    this.#context = new RowEvaluator(parts);
    this.observations = observations;
    this.#probe = probe;
    this.#uses = uses;
    this.#frames = frames;
    this.#scales = scales;
    this.#lines = new RowLines(register, catalogue);
    const lines = this.#lines;
    const { rules } = below;
    this.explainer = new MetricExplainer({ uses, rules, labels, lines, register, frames, probe });
  }

  /** Bytes of the framed values that are kept. */
  get frameBytes(): number {
    return this.#frames.bytes;
  }

  /** Values that are left out now. */
  get leftOut(): number {
    return this.#frames.leftOut;
  }

  /** How well the catalogue fits what is tracked. */
  get fit(): CatalogueFit {
    return this.#uses.fit;
  }

  /** Begins a refresh: `variableChanged` is then called for each changed variable. */
  refresh(): void {
    this.#frames.refresh();
  }

  addObject(object: ManagedObject): void {
    if (this.#uses.bind(object).length > 0) this.#probe.watch(object);
  }

  removeObject(object: ManagedObject): void {
    this.objectUnsynced(object);
    if (this.#uses.statesOf(object).length > 0) this.#probe.unwatch(object);
    this.#uses.unbind(object);
  }

  /** The variables of an object that own their names. They must be removed before the object. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    return this.#uses.variablesOf(object);
  }

  /** Adds a variable; of two variables with one name the later wins. */
  addVariable(variable: Variable): void {
    this.#uses.add(variable, this.#hideFormer);
  }

  removeVariable(variable: Variable): void {
    this.#hide(variable);
    const earlier = this.#uses.remove(variable);
    if (earlier !== undefined && this.#probe.isSynced(earlier)) this.variableSynced(earlier);
  }

  objectSynced(object: ManagedObject): void {
    const number = Number(this.#probe.bits(object) ?? -1n);
    const state = OBJECT_STATES[number] ?? '';
    for (const { row, labels } of this.#uses.statesOf(object))
      this.#lines.set(row, labels, object.id, row.ofState?.(state) ?? [], row.linesOf());
  }

  objectUnsynced(object: ManagedObject): void {
    for (const { row, labels } of this.#uses.statesOf(object))
      this.#lines.set(row, labels, object.id, [], row.linesOf());
  }

  objectChanged(object: ManagedObject): void {
    if (this.#probe.isSynced(object)) this.objectSynced(object);
  }

  variableSynced(variable: Variable): void {
    if (!isFramed(variable.type)) {
      this.#uses.each(variable, this.#showNew);
      return;
    }
    if (this.#uses.hasDerived(variable)) {
      this.#probe.watch(variable);
      if (!this.#frames.take(variable)) return;
    }
    this.#uses.each(variable, this.#show);
  }

  variableUnsynced(variable: Variable): void {
    this.#hide(variable);
  }

  /** A watched variable was updated: rebuilds some of its series. */
  variableChanged(variable: Variable): void {
    if (!this.#probe.isSynced(variable)) return;
    if (isFramed(variable.type) && !this.#frames.takeAgain(variable)) return;
    this.#uses.each(variable, this.#showDerived);
  }

  *closing(): Generator<void, void> {
    yield* this.observations.closing();
    yield* this.#frames.closing();
    yield* this.#uses.closing();
    this.#scales.close();
  }

  #update(row: Row, labels: LabelText, variable: Variable, losesValue: boolean): void {
    const shown = this.#context.evaluate(row, labels, variable, losesValue);
    const owner = isShared(row) ? variable.object.id : variable.id;
    this.#lines.set(row, labels, owner, shown, row.linesOf(variable));
  }

  #hide(variable: Variable): void {
    this.#uses.each(variable, this.#hideLines);
    this.#probe.unwatch(variable);
    this.#frames.forget(variable);
    this.observations.forget(variable);
  }
}

/** True if the row's series come from several variables of one object. */
const isShared = ({ reads }: Row): boolean => reads.length > 1;

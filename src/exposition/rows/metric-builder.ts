// Turns the tracked objects and variables of one target into series, as catalogue rows say.
import type { Catalogue } from '../../catalogue/catalogue.js';
import type { Conversion } from '../../catalogue/conversion.js';
import type { Row } from '../../catalogue/row.js';
import type { Rules } from '../../catalogue/match/rules.js';
import { OBJECT_STATES } from '../../model.js';
import type { Frame, ManagedObject, Source, Variable } from '../../model.js';
import { Distribution } from './distribution.js';
import type { ExpositionText } from '../text/exposition-text.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Line } from '../kernel/line-table.js';
import { Observed } from './observed.js';
import type { ObservedContent } from './observed.js';
import { unixSeconds } from '../read/point-in-time.js';
import type { Probe } from '../read/probe.js';
import type { SeriesRegister } from './series-register.js';
import { constant, isShared, isTextual, linesOf, stateLines } from './row-lines.js';
import { decimalOf, isFramed, numberOf, opKindOf } from '../read/slot-value.js';
import { RowUses } from './row-uses.js';
import type { Use } from './row-uses.js';
import { joinLabels, labelsText, seriesText } from '../text/labels.js';

export interface BuilderParts {
  readonly app: string;
  readonly root: ManagedObject;
  readonly kernel: Kernel;
  readonly source: Source;
  readonly probe: Probe;
  readonly text: ExpositionText;
  readonly register: SeriesRegister;
  /** Both undefined for an application without a catalogue. */
  readonly catalogue: Catalogue | undefined;
  readonly rules: Rules | undefined;
}

/** Lines that one row may take within its family: a histogram's bounds, +Inf, sum and count. */
const LINES_A_ROW = 1024;

export class MetricBuilder {
  readonly #parts: BuilderParts;
  readonly #uses: RowUses;
  readonly #rankOf = new Map<string, number>();
  readonly #numberOf = new Map<Row, number>();
  readonly #frames = new Map<Variable, Frame>();
  readonly #distributions = new Map<Variable, Map<Row, Distribution>>();
  readonly #observed = new Map<Variable, Observed[]>();
  /** What a predecessor observed of variables that are not synced here yet. */
  readonly #inherited = new Map<string, ObservedContent>();
  #staleFrames = 0;

  constructor(parts: BuilderParts) {
    this.#parts = parts;
    this.#uses = new RowUses(parts.app, parts.root, parts.rules);
    const { classes = [], families = new Map() } = parts.catalogue ?? {};
    [...families.keys()].forEach((name: string, rank) => this.#rankOf.set(name, rank));
    classes.flatMap(({ rows }) => rows).forEach((row, index) => this.#numberOf.set(row, index));
  }

  /** Framed values that could not be copied whole in time and kept their last good value. */
  get staleFrames(): number {
    return this.#staleFrames;
  }

  addObject(object: ManagedObject): void {
    if (this.#uses.bind(object).length > 0) this.#parts.probe.watch(object);
  }

  removeObject(object: ManagedObject): void {
    this.#hideState(object);
    if (this.#uses.statesOf(object).length > 0) this.#parts.probe.unwatch(object);
    this.#uses.unbind(object);
  }

  /** Of two variables of one name the later counts. */
  addVariable(variable: Variable): void {
    const other = this.#uses.current(variable.object, variable.name);
    // A subtree is bound in slices, so that a later one may have come first.
    if (other !== undefined && other.id > variable.id) return;
    if (other !== undefined) this.#hide(other);
    this.#uses.add(variable);
  }

  removeVariable(variable: Variable): void {
    this.#hide(variable);
    const earlier = this.#uses.remove(variable);
    if (earlier !== undefined && this.#parts.probe.isSynced(earlier)) this.variableSynced(earlier);
  }

  objectSynced(object: ManagedObject): void {
    const number = Number(this.#parts.probe.bits(object) ?? -1n);
    const state = OBJECT_STATES[number] ?? '';
    for (const { row, labels } of this.#uses.statesOf(object))
      this.#put(row, object.id, stateLines(row.family.name, labels, row.states, state));
  }

  objectUnsynced(object: ManagedObject): void {
    this.#hideState(object);
  }

  objectChanged(object: ManagedObject): void {
    if (this.#parts.probe.isSynced(object)) this.objectSynced(object);
  }

  variableSynced(variable: Variable): void {
    const uses = this.#uses.of(variable);
    if (uses.length === 0) return;
    if (isFramed(variable) || uses.some(({ row }) => isTextual(row)))
      this.#parts.probe.watch(variable);
    if (isFramed(variable) && !this.#takeFrame(variable)) return;
    for (const use of uses) this.#show(use, variable);
  }

  variableUnsynced(variable: Variable): void {
    this.#hide(variable);
  }

  /** A variable that is watched was updated: its lines hold its text, or values derived from it. */
  variableChanged(variable: Variable): void {
    if (!this.#parts.probe.isSynced(variable)) return;
    if (isFramed(variable) && !this.#takeFrame(variable)) return;
    for (const use of this.#uses.of(variable))
      if (isFramed(variable) || isTextual(use.row)) this.#show(use, variable);
  }

  /** Counts the present values of observed variables as observations; false when none is new. */
  observe(): boolean {
    let hasCounted = false;
    for (const [variable, all] of this.#observed) {
      const bits = this.#parts.probe.bits(variable);
      if (bits === undefined) continue;
      for (const observed of all)
        if (observed.observe(bits, numberOf(bits, variable))) hasCounted = true;
    }
    return hasCounted;
  }

  /** What was observed so far, for a successor. */
  get observations(): ObservedContent[] {
    return [...this.#observed].flatMap(([variable, all]) =>
      all.map((observed) => ({ key: observationKey(variable, observed), ...observed.content })),
    );
  }

  /** Goes on with what a predecessor observed, where the same is observed here, now or later. */
  adopt(observations: readonly ObservedContent[]): void {
    for (const content of observations) this.#inherited.set(content.key, content);
    for (const [variable, all] of this.#observed)
      for (const observed of all) this.#inherit(variable, observed);
  }

  #inherit(variable: Variable, observed: Observed): void {
    const key = observationKey(variable, observed);
    const content = this.#inherited.get(key);
    if (content === undefined) return;
    observed.content = content;
    this.#inherited.delete(key);
  }

  get hasObserved(): boolean {
    return this.#observed.size > 0;
  }

  close(): void {
    for (const all of this.#distributions.values()) for (const each of all.values()) each.close();
    for (const all of this.#observed.values()) for (const each of all) each.distribution.close();
    this.#distributions.clear();
    this.#observed.clear();
    this.#inherited.clear();
    this.#uses.clear();
    this.#frames.clear();
  }

  /** Puts the lines of a row for a variable, or what is left of them when a part has no value. */
  #show({ row, labels }: Use, variable: Variable): void {
    const { object } = variable;
    const { name } = row.family;
    switch (row.kind) {
      case 'scalar': {
        const line = this.#scalar(variable, seriesText(name, labels), row.conversion, row.wrap32);
        if (line !== undefined) this.#put(row, variable.id, [line]);
        return;
      }
      case 'pair':
        this.#showPair(row, object, labels);
        return;
      case 'info':
        this.#showInfo(row, variable, labels);
        return;
      case 'timestamp': {
        const seconds = unixSeconds(this.#textOf(variable) ?? '');
        if (seconds === undefined) this.#remove(row, variable.id, 1);
        else this.#put(row, variable.id, [constant(seriesText(name, labels), seconds)]);
        return;
      }
      case 'stateset': {
        const state = this.#textOf(variable);
        if (state === undefined) return;
        this.#put(row, variable.id, stateLines(name, labels, row.states, state));
        return;
      }
      case 'distribution':
        this.#showDistribution(row, variable, labels);
        return;
      case 'observed-histogram':
      case 'observed-summary': {
        if (isFramed(variable)) return;
        const observed = new Observed(this.#parts.kernel, row, seriesText(name, labels));
        const all = this.#observed.get(variable) ?? [];
        this.#observed.set(variable, [...all, observed]);
        this.#inherit(variable, observed);
        this.#put(row, variable.id, observed.distribution.lines(name, labels));
        return;
      }
      case 'state':
        return;
    }
  }

  /** Takes away all lines that need the variable. */
  #hide(variable: Variable): void {
    for (const { row } of this.#uses.of(variable)) {
      const owner = isShared(row) ? variable.object.id : variable.id;
      this.#remove(row, owner, linesOf(row, variable));
    }
    this.#parts.probe.unwatch(variable);
    this.#frames.delete(variable);
    for (const each of this.#distributions.get(variable)?.values() ?? []) each.close();
    this.#distributions.delete(variable);
    for (const each of this.#observed.get(variable) ?? []) each.distribution.close();
    this.#observed.delete(variable);
    // What is left of an info row goes on without the label of this variable.
    for (const use of this.#uses.of(variable))
      if (use.row.kind === 'info' && isShared(use.row))
        this.#showInfo(use.row, variable, use.labels, variable);
  }

  #showPair(row: Extract<Row, { kind: 'pair' }>, object: ManagedObject, labels: string): void {
    const sum = this.#valueOf(object, row.sum);
    const count = this.#valueOf(object, row.count);
    if (sum === undefined || count === undefined) return;
    const { name } = row.family;
    const whole = { multiply: 1, divide: 1 };
    const lines = [
      this.#scalar(sum, seriesText(`${name}_sum`, labels), row.conversion, row.wrap32),
      this.#scalar(count, seriesText(`${name}_count`, labels), whole, row.wrap32),
    ].filter((line) => line !== undefined);
    if (lines.length === 2) this.#put(row, object.id, lines);
  }

  #showInfo(
    row: Extract<Row, { kind: 'info' }>,
    variable: Variable,
    labels: string,
    without?: Variable,
  ): void {
    const { object } = variable;
    const owner = isShared(row) ? object.id : variable.id;
    const own: Record<string, string> = {};
    for (const { label, variable: name } of row.labelsFrom) {
      const source = this.#valueOf(object, name);
      const text = source === undefined || source === without ? undefined : this.#textOf(source);
      if (text !== undefined) own[label] = text;
    }
    if (Object.keys(own).length === 0) {
      this.#remove(row, owner, 1);
      return;
    }
    const series = seriesText(row.family.name, joinLabels(labels, labelsText(own)));
    this.#put(row, owner, [constant(series, 1)]);
  }

  #showDistribution(
    row: Extract<Row, { kind: 'distribution' }>,
    variable: Variable,
    labels: string,
  ): void {
    const frame = this.#frames.get(variable);
    if (frame === undefined || frame.type === 'string' || frame.type !== row.family.type) return;
    const all = this.#distributions.get(variable) ?? new Map<Row, Distribution>();
    let distribution = all.get(row);
    if (distribution === undefined) {
      const { multiply, divide } = row.conversion;
      const scaled = variable.schema.map((entry) => (entry * multiply) / divide);
      distribution = new Distribution(
        this.#parts.kernel,
        frame.type === 'histogram'
          ? { type: 'histogram', bounds: scaled.filter((bound) => bound !== Infinity) }
          : { type: 'summary', quantiles: variable.schema },
        row.conversion,
      );
      this.#distributions.set(variable, all.set(row, distribution));
      this.#put(row, variable.id, distribution.lines(row.family.name, labels));
    }
    if (frame.type === 'histogram') distribution.setHistogram(frame.counts, frame.sum);
    else distribution.setSummary(frame.count, frame.sum, frame.values);
  }

  #hideState(object: ManagedObject): void {
    for (const { row } of this.#uses.statesOf(object))
      this.#remove(row, object.id, row.states.length);
  }

  /** A line for the present value of a variable; undefined when it is no number. */
  #scalar(
    variable: Variable,
    series: string,
    conversion: Conversion,
    wrap32: boolean,
  ): Line | undefined {
    const kind = opKindOf(variable, wrap32);
    if (kind === undefined) return undefined;
    const { probe, kernel } = this.#parts;
    return {
      text: `${series} `,
      value: probe.address(variable.slot),
      op: kernel.op(kind, conversion),
    };
  }

  /** The variable of that name, if it has a value. */
  #valueOf(object: ManagedObject, name: string): Variable | undefined {
    const variable = this.#uses.current(object, name);
    return variable !== undefined && this.#parts.probe.isSynced(variable) ? variable : undefined;
  }

  /** The text of a variable; that of a number is its decimal. */
  #textOf(variable: Variable): string | undefined {
    if (!isFramed(variable)) {
      const bits = this.#parts.probe.bits(variable);
      return bits === undefined ? undefined : decimalOf(bits, variable);
    }
    const frame = this.#frames.get(variable);
    return frame?.type === 'string' ? frame.text : undefined;
  }

  /** Copies a frame; false when there is none yet. A restless one keeps its last good value. */
  #takeFrame(variable: Variable): boolean {
    const frame = this.#parts.source.readFrame(variable);
    if (frame === undefined) {
      this.#staleFrames++;
      this.#parts.probe.again(variable);
      return false;
    }
    this.#frames.set(variable, frame);
    return true;
  }

  #put(row: Row, owner: number, lines: readonly Line[]): void {
    const { family } = row;
    const rank = this.#rankOf.get(family.name) ?? 0;
    lines.forEach((line, index) => {
      this.#parts.register.put(family, rank, { owner, sub: this.#sub(row) + index }, line);
    });
  }

  #remove(row: Row, owner: number, lines: number): void {
    for (let index = 0; index < lines; index++)
      this.#parts.register.remove(row.family.name, { owner, sub: this.#sub(row) + index });
  }

  #sub(row: Row): number {
    return (this.#numberOf.get(row) ?? 0) * LINES_A_ROW;
  }
}

/** Tells what is observed apart, in any builder over the same generation. */
const observationKey = ({ id }: Variable, { key }: Observed): string => `${id} ${key}`;

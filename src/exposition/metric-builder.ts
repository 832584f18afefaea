// Turns the tracked objects and variables of one target into series, as catalogue rows say.
import type { Catalogue } from '../catalogue/catalogue.js';
import type { Conversion } from '../catalogue/conversion.js';
import type { Row, StateRow } from '../catalogue/row.js';
import { placeUnder } from '../catalogue/placed-object.js';
import type { RuleSet } from '../catalogue/rule-set.js';
import type { Rules } from '../catalogue/rules.js';
import { OBJECT_STATES } from '../model.js';
import type { Frame, ManagedObject, Source, Variable } from '../model.js';
import { Distribution } from './distribution.js';
import type { ExpositionText } from './exposition-text.js';
import type { Kernel, OpKind } from './kernel/kernel.js';
import type { Line } from './kernel/line-table.js';
import { floatText } from './number-text.js';
import { Observed } from './observed.js';
import { unixSeconds } from './point-in-time.js';
import type { Probe } from './probe.js';
import { SelfDescribed } from './self-described.js';
import type { SeriesRegister } from './series-register.js';
import { joinLabels, labelsText, seriesText } from './text-format.js';

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

/** A row as it applies to one variable or object, with the text of its labels. */
interface Use {
  readonly row: Row;
  readonly labels: string;
}

/** The rows of one class for an object, with the text of the labels that its path gave. */
interface BoundRules {
  readonly set: RuleSet;
  readonly labels: string;
}

/** What an object's rows need to know of it. */
interface Bound {
  readonly rules: readonly BoundRules[];
  /** The label of series without a catalogue: its seed path, or `@root`. */
  readonly label: string;
  /** The variable that counts for each name: the later one. */
  readonly variables: Map<string, Variable>;
}

const NO_RULES: readonly BoundRules[] = [];
const NO_USES: readonly Use[] = [];
/** Lines that one row may take within its family: a histogram's bounds, +Inf, sum and count. */
const LINES_A_ROW = 1024;

export class MetricBuilder {
  readonly #parts: BuilderParts;
  readonly #described: SelfDescribed;
  readonly #rankOf = new Map<string, number>();
  readonly #numberOf = new Map<Row, number>();
  readonly #labelsOf = new WeakMap<Row, string>();
  readonly #bound = new Map<ManagedObject, Bound>();
  readonly #frames = new Map<Variable, Frame>();
  readonly #distributions = new Map<Variable, Map<Row, Distribution>>();
  readonly #observed = new Map<Variable, Observed[]>();
  #staleFrames = 0;

  constructor(parts: BuilderParts) {
    this.#parts = parts;
    this.#described = new SelfDescribed(parts.app);
    const { classes = [], families = new Map() } = parts.catalogue ?? {};
    [...families.keys()].forEach((name: string, rank) => this.#rankOf.set(name, rank));
    classes.flatMap(({ rows }) => rows).forEach((row, index) => this.#numberOf.set(row, index));
  }

  /** Framed values that could not be copied whole in time and kept their last good value. */
  get staleFrames(): number {
    return this.#staleFrames;
  }

  addObject(object: ManagedObject): void {
    const place = placeUnder(this.#parts.root, object);
    const found = this.#parts.rules?.rulesFor(place) ?? [];
    const rules =
      found.length === 0
        ? NO_RULES
        : found.map(({ set, labels }) => ({ set, labels: labelsText(labels) }));
    const label = labelsText({ object: place.seedPath === '' ? '@root' : place.seedPath });
    this.#bound.set(object, { rules, label, variables: new Map() });
    if (rules.some(({ set }) => set.stateRows.length > 0)) this.#parts.probe.watch(object);
  }

  removeObject(object: ManagedObject): void {
    const bound = this.#bound.get(object);
    if (bound === undefined) return;
    this.#hideState(object, bound);
    if (bound.rules.some(({ set }) => set.stateRows.length > 0)) this.#parts.probe.unwatch(object);
    this.#bound.delete(object);
  }

  /** Of two variables of one name the later counts. */
  addVariable(variable: Variable): void {
    const variables = this.#bound.get(variable.object)?.variables;
    const earlier = variables?.get(variable.name);
    if (earlier !== undefined) this.#hide(earlier);
    variables?.set(variable.name, variable);
  }

  removeVariable(variable: Variable): void {
    this.#hide(variable);
    const bound = this.#bound.get(variable.object);
    if (bound?.variables.get(variable.name) !== variable) return;
    bound.variables.delete(variable.name);
    let earlier: Variable | undefined;
    for (const other of variable.object.variables)
      if (other !== variable && other.name === variable.name) earlier = other;
    if (earlier === undefined) return;
    bound.variables.set(earlier.name, earlier);
    if (this.#parts.probe.isSynced(earlier)) this.variableSynced(earlier);
  }

  objectSynced(object: ManagedObject): void {
    const bound = this.#bound.get(object);
    if (bound !== undefined) this.#showState(object, bound);
  }

  objectUnsynced(object: ManagedObject): void {
    const bound = this.#bound.get(object);
    if (bound !== undefined) this.#hideState(object, bound);
  }

  objectChanged(object: ManagedObject): void {
    if (this.#parts.probe.isSynced(object)) this.objectSynced(object);
  }

  variableSynced(variable: Variable): void {
    const uses = this.#usesOf(variable);
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
    for (const use of this.#usesOf(variable))
      if (isFramed(variable) || isTextual(use.row)) this.#show(use, variable);
  }

  /** Counts the present values of observed variables as observations. */
  observe(): void {
    for (const [variable, all] of this.#observed) {
      const bits = this.#parts.probe.bits(variable);
      if (bits !== undefined)
        for (const observed of all) observed.observe(bits, numberOf(bits, variable));
    }
  }

  get hasObserved(): boolean {
    return this.#observed.size > 0;
  }

  close(): void {
    for (const all of this.#distributions.values()) for (const each of all.values()) each.close();
    for (const all of this.#observed.values()) for (const each of all) each.distribution.close();
    this.#distributions.clear();
    this.#observed.clear();
    this.#bound.clear();
    this.#frames.clear();
  }

  #usesOf(variable: Variable): readonly Use[] {
    const bound = this.#bound.get(variable.object);
    if (bound?.variables.get(variable.name) !== variable) return NO_USES;
    if (this.#parts.rules === undefined)
      return [{ row: this.#described.rowFor(variable), labels: bound.label }];
    let uses: Use[] | undefined;
    for (const { set, labels } of bound.rules)
      for (const { row, captured } of set.usesOf(variable.name)) {
        const own = joinLabels(labelsText(captured), this.#staticLabels(row));
        uses ??= [];
        uses.push({ row, labels: joinLabels(labels, own) });
      }
    return uses ?? NO_USES;
  }

  /** The text of the labels that every series of a row carries. */
  #staticLabels(row: Row): string {
    let text = this.#labelsOf.get(row);
    if (text === undefined) {
      text = labelsText(row.labels);
      this.#labelsOf.set(row, text);
    }
    return text;
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
        const observed = new Observed(this.#parts.kernel, row);
        const all = this.#observed.get(variable) ?? [];
        this.#observed.set(variable, [...all, observed]);
        this.#put(row, variable.id, observed.distribution.lines(name, labels));
        return;
      }
      case 'state':
        return;
    }
  }

  /** Takes away all lines that need the variable. */
  #hide(variable: Variable): void {
    for (const { row } of this.#usesOf(variable)) {
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
    for (const use of this.#usesOf(variable))
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

  #showState(object: ManagedObject, { rules }: Bound): void {
    const number = Number(this.#parts.probe.bits(object) ?? -1n);
    const state = OBJECT_STATES[number];
    for (const { set, labels: path } of rules)
      for (const row of set.stateRows) {
        const labels = joinLabels(path, this.#staticLabels(row));
        const lines = stateLines(row.family.name, labels, row.states, state ?? '');
        this.#put(row, object.id, lines);
      }
  }

  #hideState(object: ManagedObject, { rules }: Bound): void {
    for (const { set } of rules)
      for (const row of set.stateRows) this.#remove(row, object.id, row.states.length);
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
    const variable = this.#bound.get(object)?.variables.get(name);
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

const isFramed = ({ type }: Variable): boolean =>
  type === 'string' || type === 'histogram' || type === 'summary';

/** Whether the row's lines are made of the text of a value, also of a number. */
const isTextual = ({ kind }: Row): boolean =>
  kind === 'info' || kind === 'timestamp' || kind === 'stateset';

/** Whether the row's lines come from several variables of one object. */
const isShared = (row: Row): boolean =>
  row.kind === 'pair' || (row.kind === 'info' && row.labelsFrom.length > 1);

function linesOf(row: Row, variable: Variable): number {
  switch (row.kind) {
    case 'pair':
      return 2;
    case 'stateset':
      return row.states.length;
    case 'distribution':
      return variable.schema.length + 3;
    case 'observed-histogram':
      return row.buckets.length + 3;
    case 'observed-summary':
      return row.quantiles.length + 2;
    default:
      return 1;
  }
}

function opKindOf({ type }: Variable, wrap32: boolean): OpKind | undefined {
  if (type === 'i64') return wrap32 ? 'wrapped' : 'i64';
  return type === 'u64' || type === 'f64' || type === 'bool' ? type : undefined;
}

const numberOf = (bits: bigint, variable: Variable): number => Number(exactOf(bits, variable));

function decimalOf(bits: bigint, variable: Variable): string {
  const value = exactOf(bits, variable);
  return typeof value === 'number' ? floatText(value) : String(value);
}

function exactOf(bits: bigint, { type }: Variable): bigint | number {
  if (type === 'i64') return BigInt.asIntN(64, bits);
  if (type === 'bool') return bits === 0n ? 0n : 1n;
  if (type !== 'f64') return bits;
  return new Float64Array(BigUint64Array.of(bits).buffer)[0] ?? NaN;
}

const constant = (series: string, value: number): Line => ({
  text: `${series} ${value}\n`,
  value: 0,
  op: 0,
});

/** One line a state: 1 for the present one; the label has the metric's name, as OpenMetrics asks. */
const stateLines = (
  name: string,
  labels: string,
  states: StateRow['states'] | readonly string[],
  present: string,
): Line[] =>
  states.map((state) =>
    constant(
      seriesText(name, joinLabels(labels, labelsText({ [name]: state }))),
      Number(state === present),
    ),
  );

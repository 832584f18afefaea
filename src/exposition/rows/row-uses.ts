// Which rows read which variables of the bound objects, and with what labels.
import type { PathLabels } from '../../catalogue/match/path-labels.js';
import { placeUnder } from '../../catalogue/match/placed-object.js';
import type { PlacedObject } from '../../catalogue/match/placed-object.js';
import type { Reading, Row } from '../../catalogue/row.js';
import type { RowUse, RuleSet } from '../../catalogue/match/rule-set.js';
import type { Rules } from '../../catalogue/match/rules.js';
import type { Uncatalogued } from '../../catalogue/match/uncatalogued.js';
import { RoundMap } from '../../collections/round-map.js';
import { WideMap } from '../../collections/wide-map.js';
import type { ManagedObject, Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import { CatalogueFit } from './catalogue-fit.js';
import { DescribedByClass, DescribedObject } from './described-object.js';
import type { Describes, Describing } from './described-object.js';
import { ObjectLabels } from './label-text.js';
import type { LabelText } from './label-text.js';
import { NamedSlots } from './named-slots.js';
import { Namesakes } from './namesakes.js';
import { isVariable } from '../read/pending-items.js';
import type { Probe } from '../read/probe.js';
import { SelfDescribed } from './self-described.js';
import { withStated } from './stated-labels.js';
import { joinLabels, labelsText } from '../text/labels.js';

/** A row as it applies to one variable or object, with the text of its labels. */
export interface Use {
  readonly row: Row;
  readonly labels: LabelText;
}

/** A row that reads a variable or shows a state, for people. */
export interface ReadBy {
  readonly row: Row;
  /** Undefined for a state. */
  readonly reading: Reading | undefined;
  /** The text of the labels that all its series have. */
  readonly labels: () => string;
}

/** What the rows of an object need to know about it. */
interface Bound {
  /** The rows of each class that reads it, with the text of the labels from its path. */
  readonly rules: readonly { readonly set: RuleSet; readonly labels: ObjectLabels }[];
  /** The rows for objects below it. */
  readonly below: readonly RuleSet[];
  readonly states: readonly Use[];
  /** Shows variables that no row reads; undefined if the target leaves them out. */
  readonly described: Describes | undefined;
  /** The slot of the variable of each name; of several, the latest. */
  readonly variables: NamedSlots;
  /** The earlier ones, for the few names that several variables have. */
  earlier: Map<string, Namesakes> | undefined;
}

export interface UsesParts {
  readonly app: string;
  readonly root: ManagedObject;
  readonly kernel: Kernel;
  readonly probe: Probe;
  /** Undefined for an application without a catalogue. */
  readonly rules: Rules | undefined;
  /** Set if variables without a row of the catalogue are shown as well. */
  readonly uncatalogued: Uncatalogued | undefined;
  /** Further labels of series without a row. */
  readonly pathLabels: PathLabels;
}

const NO_USES: readonly Use[] = [];
const NO_READERS: readonly RowUse[] = [];

export class RowUses {
  /** How well the rules fit the bound objects and their variables. */
  readonly fit = new CatalogueFit();
  readonly #root: ManagedObject;
  readonly #rules: Rules | undefined;
  readonly #uncatalogued: Uncatalogued | undefined;
  readonly #describing: Describing;
  /** By the object's id. */
  readonly #bound = new WideMap<Bound>();
  /** The one that was asked for last: mostly the next one, too. */
  #last: { readonly id: number; readonly bound: Bound } | undefined;
  /** The object that was bound last: others of its class have the same names, mostly. */
  #newest: { readonly className: string; readonly variables: NamedSlots } | undefined;
  /** Of rows of the catalogue. */
  readonly #labelsOf = new RoundMap<Row, string>();
  readonly #kernel: Kernel;
  readonly #probe: Probe;

  constructor({ app, root, kernel, probe, rules, uncatalogued, pathLabels }: UsesParts) {
    this.#kernel = kernel;
    this.#probe = probe;
    this.#root = root;
    this.#rules = rules;
    this.#uncatalogued = uncatalogued;
    const rows = new SelfDescribed(app, uncatalogued?.taken);
    this.#describing = { rows, kernel, pathLabels };
  }

  /** Finds the rows of an object; returns those that show its state. */
  bind(object: ManagedObject): readonly Use[] {
    const place = placeUnder(this.#root, object);
    const found = this.#rules?.rulesFor(place) ?? [];
    const rules = found.map(({ set, labels }) => ({
      set,
      labels: new ObjectLabels(
        this.#kernel,
        labelsText(withStated(labels, object.labels, set.rows)),
      ),
    }));
    const states = rules.flatMap(({ set, labels }) =>
      set.stateRows.map((row) => ({ row, labels: labels.with(this.#staticLabels(row)) })),
    );
    const own = rules.find(({ set }) => set.isDescribed)?.labels;
    const described =
      own === undefined
        ? this.#described(place, object)
        : new DescribedByClass(this.#describing, own);
    const below = this.#rules?.rulesBelow(place) ?? [];
    const newest = this.#newest;
    const variables = new NamedSlots(
      newest?.className === object.className ? newest.variables : undefined,
    );
    this.#newest = { className: object.className, variables };
    this.#last = undefined;
    this.#bound.set(object.id, { rules, below, states, described, variables, earlier: undefined });
    for (const set of setsOf({ rules, below })) this.fit.addObject(set);
    return states;
  }

  /** The variables of an object that own their names. */
  variablesOf(object: ManagedObject): readonly Variable[] {
    const slots = this.#boundOf(object)?.variables.values() ?? [];
    return [...slots].flatMap((slot) => this.#variableAt(object, slot) ?? []);
  }

  /** Forgets an object, whose variables are removed. */
  unbind(object: ManagedObject): void {
    const bound = this.#boundOf(object);
    if (bound === undefined) return;
    for (const set of setsOf(bound)) this.fit.removeObject(set);
    close(bound);
    this.#bound.delete(object.id);
    this.#last = undefined;
  }

  /** The rows that show the state of an object. */
  statesOf(object: ManagedObject): readonly Use[] {
    return this.#boundOf(object)?.states ?? NO_USES;
  }

  /** The variable of a name; of several, the latest. */
  current(object: ManagedObject, name: string): Variable | undefined {
    return this.#variableAt(object, this.#boundOf(object)?.variables.get(name));
  }

  /**
   * Adds a variable; of several with one name the latest wins.
   * @param hide called with the one that it replaces, while that still owns the name
   */
  add(variable: Variable, hide: (former: Variable) => void): void {
    const bound = this.#boundOf(variable.object);
    if (bound === undefined) return;
    const { name, object } = variable;
    const slot = bound.variables.get(name);
    const other = this.#variableAt(object, slot);
    if (other?.id === variable.id) return;
    if (other !== undefined) {
      // A subtree is bound in slices, so the later one may be bound first.
      const isEarlier = variable.id < other.id;
      if (!isEarlier) hide(other);
      const earlier = (bound.earlier ??= new Map<string, Namesakes>());
      const namesakes = earlier.get(name) ?? new Namesakes();
      earlier.set(name, namesakes);
      namesakes.add(isEarlier ? variable : other);
      if (isEarlier) return;
      this.#leave(bound, other);
    }
    this.#enter(bound, variable);
  }

  /** Removes a variable; returns the earlier one that owns its name from now on. */
  remove(variable: Variable): Variable | undefined {
    const bound = this.#boundOf(variable.object);
    if (bound === undefined) return undefined;
    const { name } = variable;
    const namesakes = bound.earlier?.get(name);
    let next: Variable | undefined;
    if (this.#owns(bound, variable)) {
      this.#leave(bound, variable);
      next = namesakes?.takeLast();
      if (next !== undefined) this.#enter(bound, next);
    } else namesakes?.delete(variable);
    if (namesakes?.isEmpty === true) bound.earlier?.delete(name);
    return next;
  }

  /**
   * Calls back with each row that reads a variable; with none if a later variable owns its name. Makes no
   * list of them: a million variables are asked for.
   */
  each(
    variable: Variable,
    callback: (row: Row, labels: LabelText, variable: Variable) => void,
  ): void {
    const bound = this.#boundOf(variable.object);
    if (bound === undefined || !this.#owns(bound, variable)) return;
    let isRead = false;
    for (const { set, labels } of bound.rules)
      for (const use of set.usesOf(variable.name)) {
        isRead = true;
        callback(use.row, labels.with(this.#ownLabels(use)), variable);
      }
    if (isRead) return;
    const { described } = bound;
    const row = described?.rowOf(variable);
    if (described !== undefined && row !== undefined)
      callback(row, described.labelsOf(variable), variable);
  }

  /** Whether any of these rows is rebuilt when a value changes. */
  hasDerived(variable: Variable): boolean {
    const bound = this.#boundOf(variable.object);
    if (bound === undefined || !this.#owns(bound, variable)) return false;
    const readers = readersOf(bound, variable);
    if (readers.length > 0) return readers.some(isDerived);
    return bound.described?.rowOf(variable)?.isDerived === true;
  }

  /** Why no row reads the variables of an object; empty where some may. */
  whyUnread(object: ManagedObject): string {
    const bound = this.#boundOf(object);
    if (bound === undefined || bound.rules.length > 0 || bound.described !== undefined) return '';
    if (this.#rules?.hasClass(object.className) !== true) return 'no row is for its class';
    return 'the rows for its class are for objects at other places';
  }

  /** Why no row reads a variable of an object whose variables rows may read. */
  whyNoRow({ object }: Variable): string {
    return this.#boundOf(object)?.described === undefined
      ? 'no row reads it'
      : 'only rows of other classes than those of the target read it';
  }

  /** Whether a later variable of its object has its name. */
  isHidden(variable: Variable): boolean {
    const bound = this.#boundOf(variable.object);
    return bound !== undefined && !this.#owns(bound, variable);
  }

  /** The rows that read a variable, as `each` has them; nothing is made for a render. */
  readersOf(variable: Variable): readonly ReadBy[] {
    const bound = this.#boundOf(variable.object);
    if (bound === undefined) return [];
    const readers = bound.rules.flatMap(({ set, labels }) =>
      set.usesOf(variable.name).map((use) => ({
        row: use.row,
        reading: use.reading,
        labels: () => labels.textWith(this.#ownLabels(use)),
      })),
    );
    if (readers.length > 0) return readers;
    const { described } = bound;
    const row = described?.rowOf(variable);
    if (described === undefined || row === undefined) return readers;
    return [{ row, reading: row.reads[0], labels: () => described.textOf(variable) }];
  }

  /** Names of the metrics of these rows: a search asks for those of very many variables. */
  metricNamesOf(variable: Variable): readonly string[] {
    const bound = this.#boundOf(variable.object);
    if (bound === undefined) return [];
    const names: string[] = [];
    for (const { set } of bound.rules)
      for (const { row } of set.usesOf(variable.name)) names.push(row.family.name);
    if (names.length > 0) return names;
    const row = bound.described?.rowOf(variable);
    return row === undefined ? names : [row.family.name];
  }

  /** The rows that show the state of an object. */
  stateReadersOf(object: ManagedObject): readonly ReadBy[] {
    return this.statesOf(object).map(({ row, labels }) => ({
      row,
      reading: undefined,
      labels: () => labels.text,
    }));
  }

  *closing(): Generator<void, void> {
    for (const bound of this.#bound.values()) {
      close(bound);
      yield;
    }
    this.#bound.clear();
    this.#last = undefined;
  }

  #boundOf({ id }: ManagedObject): Bound | undefined {
    if (this.#last?.id === id) return this.#last.bound;
    const bound = this.#bound.get(id);
    if (bound !== undefined) this.#last = { id, bound };
    return bound;
  }

  /** Whether no later variable of the object has its name. */
  #owns({ earlier }: Bound, variable: Variable): boolean {
    return this.#probe.isTracked(variable) && earlier?.get(variable.name)?.has(variable) !== true;
  }

  /** The variable of an object that is tracked at a slot. */
  #variableAt(object: ManagedObject, slot: number | undefined): Variable | undefined {
    const item = slot === undefined ? undefined : this.#probe.trackedAt(slot);
    return item !== undefined && isVariable(item) && item.object === object ? item : undefined;
  }

  /** This variable owns its name from now on. */
  #enter(bound: Bound, variable: Variable): void {
    bound.variables.set(variable.name, variable.slot);
    const readers = readersOf(bound, variable);
    if (isCounted(bound, readers)) this.fit.addVariable(variable, readers);
  }

  #leave(bound: Bound, variable: Variable): void {
    bound.variables.delete(variable.name);
    const readers = readersOf(bound, variable);
    if (isCounted(bound, readers)) this.fit.removeVariable(variable, readers);
  }

  #described(place: PlacedObject, { labels }: ManagedObject): DescribedObject | undefined {
    const all = this.#uncatalogued?.rules;
    if (this.#rules !== undefined && all === undefined) return undefined;
    const found = all === undefined || all === this.#rules ? [] : all.rulesFor(place);
    const leftOut = found.map(({ set }) => set);
    return new DescribedObject(this.#describing, place.seedPath, { leftOut, stated: labels });
  }

  /** The text of the labels that a row gives to a variable, beside those of its object. */
  #ownLabels({ row, reading, captured }: RowUse): string {
    const text = this.#staticLabels(row);
    return reading.pattern === undefined ? text : joinLabels(labelsText(captured), text);
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
}

function close({ rules, described }: Bound): void {
  for (const { labels } of rules) labels.close();
  described?.close();
}

/** The rows that apply while the object exists. */
const setsOf = ({ rules, below }: Pick<Bound, 'rules' | 'below'>): readonly RuleSet[] => [
  ...rules.map(({ set }) => set),
  ...below,
];

const isDerived = ({ row }: RowUse): boolean => row.isDerived;

function readersOf({ rules }: Bound, { name }: Variable): readonly RowUse[] {
  const [first] = rules;
  if (first === undefined) return NO_READERS;
  // Mostly one class reads an object, and there may be a million variables.
  return rules.length === 1 ? first.set.usesOf(name) : rules.flatMap(({ set }) => set.usesOf(name));
}

/** Whether a catalogue could have a row for a variable and has none, or has some. */
const isCounted = ({ rules }: Bound, readers: readonly RowUse[]): boolean =>
  readers.length > 0 || (rules.length > 0 && !rules.some(({ set }) => set.isDescribed));

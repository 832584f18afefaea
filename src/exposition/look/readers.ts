// Which rows read an object's state or a variable, and why none does: for people, nothing is made for a render.
import type { Rules } from '../../catalogue/match/rules.js';
import type { Reading, Row } from '../../catalogue/row.js';
import type { ManagedObject, Variable } from '../../model.js';
import { isVariable } from '../read/pending-items.js';
import type { Tracked } from '../read/tracked-slots.js';
import type { RowLabels } from '../rows/row-labels.js';
import type { RowUses } from '../rows/row-uses.js';

/** A row that reads a variable or shows a state. */
export interface Reader {
  readonly row: Row;
  /** Undefined for a state. */
  readonly reading: Reading | undefined;
  /** The text of the labels that all its series have. */
  readonly labels: () => string;
}

export class Readers {
  readonly #uses: RowUses;
  readonly #rules: Rules | undefined;
  readonly #labels: RowLabels;

  /** @param rules undefined for an application without a catalogue */
  constructor(uses: RowUses, rules: Rules | undefined, labels: RowLabels) {
    this.#uses = uses;
    this.#rules = rules;
    this.#labels = labels;
  }

  /** None for a variable whose name a later one has. */
  of(item: Tracked): readonly Reader[] {
    if (!isVariable(item)) return this.#ofState(item);
    return this.#uses.isHidden(item) ? [] : this.#ofVariable(item);
  }

  /** Names of their metrics: a search asks for those of very many variables. */
  metricNamesOf(item: Tracked): readonly string[] {
    if (!isVariable(item)) return this.#uses.statesOf(item).map(({ row }) => row.family.name);
    const bound = this.#uses.boundOf(item.object);
    if (bound === undefined || this.#uses.isHidden(item)) return [];
    const names: string[] = [];
    for (const { set } of bound.rules)
      for (const { row } of set.usesOf(item.name)) names.push(row.family.name);
    if (names.length > 0) return names;
    const row = bound.described?.rowOf(item);
    return row === undefined ? names : [row.family.name];
  }

  /** Why no row reads a tracked item; empty where one does, and for objects whose variables are read. */
  whyNone(item: Tracked): string {
    if (!isVariable(item)) return this.#whyNoneOf(item);
    if (this.#uses.isHidden(item)) return 'a later variable of this object has its name';
    const ofObject = this.#whyNoneOf(item.object);
    if (ofObject !== '') return ofObject;
    if (this.of(item).length > 0) return '';
    return this.#uses.boundOf(item.object)?.described === undefined
      ? 'no row reads it'
      : 'only rows of other classes than those of the target read it';
  }

  /** Why no row reads the variables of an object; empty where some may. */
  #whyNoneOf(object: ManagedObject): string {
    const bound = this.#uses.boundOf(object);
    if (bound === undefined || bound.rules.length > 0 || bound.described !== undefined) return '';
    if (this.#rules?.hasClass(object.className) !== true) return 'no row is for its class';
    return 'the rows for its class are for objects at other places';
  }

  #ofState(object: ManagedObject): readonly Reader[] {
    return this.#uses.statesOf(object).map(({ row, labels }) => ({
      row,
      reading: undefined,
      labels: () => labels.text,
    }));
  }

  #ofVariable(variable: Variable): readonly Reader[] {
    const bound = this.#uses.boundOf(variable.object);
    if (bound === undefined) return [];
    const readers = bound.rules.flatMap(({ set, labels }) =>
      set.usesOf(variable.name).map((use) => ({
        row: use.row,
        reading: use.reading,
        labels: () => labels.textWith(this.#labels.ofUse(use)),
      })),
    );
    if (readers.length > 0) return readers;
    const { described } = bound;
    const row = described?.rowOf(variable);
    if (described === undefined || row === undefined) return readers;
    return [{ row, reading: row.reads[0], labels: () => described.textOf(variable) }];
  }
}

// Why a target does not track an item, which rows read it, and why none does.
import type { Filters } from '../../catalogue/match/filters.js';
import { placeUnder } from '../../catalogue/match/rules.js';
import type { Rules } from '../../catalogue/match/rules.js';
import type { Reading, Row } from '../../catalogue/row.js';
import type { WideMap } from '../../collections/wide-map.js';
import type { ManagedObject, Variable } from '../../model.js';
import type { Probe } from '../read/probe.js';
import type { Tracked } from '../read/slots.js';
import { isVariable } from '../read/tree-walk.js';
import type { RowLabels } from '../rows/labels.js';
import type { RowUses } from '../rows/row-uses.js';
import { limitText } from '../target-limits.js';
import type { TargetRoom } from '../target-limits.js';

interface MembershipParts {
  readonly root: ManagedObject;
  readonly filters: Pick<Filters, 'leftOutBy'>;
  /** Tracked objects, by id. */
  readonly tracked: Pick<WideMap<ManagedObject>, 'has'>;
  readonly probe: Probe;
  readonly room: TargetRoom;
  /** Whether all that was seen of the tree is taken in. */
  readonly isBound: () => boolean;
}

export class Membership {
  readonly #parts: MembershipParts;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** Why it is not tracked; empty if it is. */
  whyNotObject(object: ManagedObject): string {
    const { root, filters, tracked } = this.#parts;
    if (tracked.has(object.id)) return '';
    const filter = filters.leftOutBy(placeUnder(root, object));
    if (filter !== undefined) return `not read: ${filter} leaves it out`;
    return this.#late('objects');
  }

  whyNotVariable(variable: Variable): string {
    if (this.#parts.probe.isTracked(variable)) return '';
    const ofObject = this.whyNotObject(variable.object);
    if (ofObject !== '') return ofObject;
    return this.#late('variables');
  }

  #late(kind: 'objects' | 'variables'): string {
    const { room, isBound } = this.#parts;
    // What left it out may have room again.
    const limit = room.reached(kind) ?? kind;
    return isBound() ? `left out: ${limitText(room.limits, limit)}` : 'not taken in yet';
  }
}

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

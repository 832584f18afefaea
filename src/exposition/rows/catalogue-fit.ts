// How well the catalogue fits what a target tracks: rows without variables, variables without rows.
import type { RowUse, RuleSet } from '../../catalogue/match/rules.js';
import type { Reading, Row } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';

interface UnreadVariable {
  readonly className: string;
  readonly name: string;
  readonly count: number;
}

/** Further distinct names are only counted: publishers can invent any number of them. */
const MAX_NAMES = 1000;

class UnreadVariables {
  readonly #byName = new Map<string, { className: string; name: string; count: number }>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get names(): readonly UnreadVariable[] {
    return [...this.#byName.values()].map((each) => ({ ...each }));
  }

  add({ object: { className }, name }: Variable): void {
    this.#count++;
    const key = keyOf(className, name);
    const known = this.#byName.get(key);
    if (known !== undefined) known.count++;
    else if (this.#byName.size < MAX_NAMES) this.#byName.set(key, { className, name, count: 1 });
  }

  remove({ object: { className }, name }: Variable): void {
    this.#count--;
    const key = keyOf(className, name);
    const known = this.#byName.get(key);
    if (known !== undefined && --known.count === 0) this.#byName.delete(key);
  }
}

const keyOf = (className: string, name: string): string =>
  `${className.length} ${className} ${name}`;

/** A row that reads a variable that no object has, or whose type it cannot show. */
interface Misfit {
  readonly row: Row;
  readonly variable: string;
  /** Undefined for a variable that no object has. */
  readonly type?: string;
}

interface RowFit {
  /** How many of the row's readings find no variable. */
  missing: number;
  /** How many variables have a type that the row cannot show. */
  mistyped: number;
}

interface ReadingFit {
  readonly row: Row;
  readonly fit: RowFit;
  found: number;
  /** How many variables are of each type that the row cannot show. */
  readonly mistyped: Map<string, number>;
}

/**
 * Counts as objects and variables come and go. Only rows whose class exists count: a row for
 * objects that a target does not have is no mistake. Until an object is of some class, all rows count.
 */
export class CatalogueFit {
  /** Rules with the number of their objects. */
  readonly #objects = new Map<RuleSet, number>();
  readonly #readings = new Map<Reading, ReadingFit>();
  readonly #unread = new UnreadVariables();
  readonly #readingRows: number;
  /** The number of tracked objects. */
  #tracked = 0;
  /** Whether any object has been of a class of the catalogue. */
  #hasFitted = false;
  #rowsWithoutVariable = 0;
  #rowsOfWrongType = 0;

  /** @param readingRows how many rows of the catalogue read variables */
  constructor(readingRows: number) {
    this.#readingRows = readingRows;
  }

  /** Rows with a variable that none of their objects has. */
  get rowsWithoutVariable(): number {
    const fitsNothing = this.#tracked > 0 && !this.#hasFitted;
    return fitsNothing ? this.#readingRows : this.#rowsWithoutVariable;
  }

  /** Rows that find a variable of a type that they cannot show. */
  get rowsOfWrongType(): number {
    return this.#rowsOfWrongType;
  }

  /** Variables that no row reads, in objects that some row reads. */
  get variablesWithoutRow(): number {
    return this.#unread.count;
  }

  /** The rows that the numbers count, by name; iterates over all rows. */
  get misfits(): readonly Misfit[] {
    return [...this.#readings].flatMap(([{ variable }, { row, found, mistyped }]) => [
      ...(found === 0 ? [{ row, variable }] : []),
      ...[...mistyped.keys()].map((type) => ({ row, variable, type })),
    ]);
  }

  /** The variables that no row reads, by class and name; the first thousand of these. */
  get unread(): readonly UnreadVariable[] {
    return this.#unread.names;
  }

  /** An object that these rules apply to was added. */
  addObject(sets: readonly RuleSet[]): void {
    this.#tracked++;
    if (sets.length > 0) this.#hasFitted = true;
    for (const set of sets) this.#addTo(set);
  }

  /** An object was removed, after all its variables. */
  removeObject(sets: readonly RuleSet[]): void {
    this.#tracked--;
    for (const set of sets) this.#removeFrom(set);
  }

  /** A variable was added, or owns its name again; `uses` are the rows that read it. */
  addVariable(variable: Variable, uses: readonly RowUse[]): void {
    if (uses.length === 0) this.#unread.add(variable);
    for (const { reading } of uses) {
      const entry = this.#readings.get(reading);
      if (entry === undefined) continue;
      if (entry.found++ === 0 && --entry.fit.missing === 0) this.#rowsWithoutVariable--;
      if (reading.types.includes(variable.type)) continue;
      if (entry.fit.mistyped++ === 0) this.#rowsOfWrongType++;
      entry.mistyped.set(variable.type, (entry.mistyped.get(variable.type) ?? 0) + 1);
    }
  }

  /** Undoes `addVariable`. */
  removeVariable(variable: Variable, uses: readonly RowUse[]): void {
    if (uses.length === 0) this.#unread.remove(variable);
    for (const { reading } of uses) {
      const entry = this.#readings.get(reading);
      if (entry === undefined) continue;
      if (--entry.found === 0 && entry.fit.missing++ === 0) this.#rowsWithoutVariable++;
      if (reading.types.includes(variable.type)) continue;
      if (--entry.fit.mistyped === 0) this.#rowsOfWrongType--;
      const left = (entry.mistyped.get(variable.type) ?? 0) - 1;
      if (left > 0) entry.mistyped.set(variable.type, left);
      else entry.mistyped.delete(variable.type);
    }
  }

  #addTo(set: RuleSet): void {
    const objects = this.#objects.get(set) ?? 0;
    this.#objects.set(set, objects + 1);
    if (objects > 0) return;
    for (const row of set.rows) {
      const fit = { missing: row.reads.length, mistyped: 0 };
      if (fit.missing > 0) this.#rowsWithoutVariable++;
      for (const reading of row.reads)
        this.#readings.set(reading, { row, fit, found: 0, mistyped: new Map() });
    }
  }

  #removeFrom(set: RuleSet): void {
    const objects = this.#objects.get(set) ?? 0;
    if (objects > 1) {
      this.#objects.set(set, objects - 1);
      return;
    }
    this.#objects.delete(set);
    for (const { reads } of set.rows) {
      if (reads.length > 0) this.#rowsWithoutVariable--;
      for (const reading of reads) this.#readings.delete(reading);
    }
  }
}

// How well the catalogue fits what a target tracks: rows without variables, variables without rows.
import type { RowMatch, ClassRows } from '../../catalogue/match/rules.js';
import type { Reading } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';

interface RowFit {
  /** How many of the row's readings find no variable. */
  missing: number;
  /** How many variables have a type that the row cannot show. */
  mistyped: number;
}

interface ReadingFit {
  readonly fit: RowFit;
  /** How many variables the reading finds. */
  found: number;
}

/**
 * Counts the rows without a variable and the variables without a row while objects and variables come and go. A
 * row counts once an object of its class exists. While no object has a class of the catalogue, all rows count.
 */
export class CatalogueCoverage {
  /** How many objects the rows of each class apply to. */
  readonly #objects = new Map<ClassRows, number>();
  readonly #readings = new Map<Reading, ReadingFit>();
  #variablesWithoutRow = 0;
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
    return this.#variablesWithoutRow;
  }

  /** An object that these rules apply to was added. */
  addObject(sets: readonly ClassRows[]): void {
    this.#tracked++;
    if (sets.length > 0) this.#hasFitted = true;
    for (const set of sets) this.#addTo(set);
  }

  /** An object was removed, after all its variables. */
  removeObject(sets: readonly ClassRows[]): void {
    this.#tracked--;
    for (const set of sets) this.#removeFrom(set);
  }

  /** A variable was added, or owns its name again; `uses` are the rows that read it. */
  addVariable(variable: Variable, uses: readonly RowMatch[]): void {
    if (uses.length === 0) this.#variablesWithoutRow++;
    for (const { reading } of uses) {
      const entry = this.#readings.get(reading);
      if (entry === undefined) continue;
      if (entry.found++ === 0 && --entry.fit.missing === 0) this.#rowsWithoutVariable--;
      if (reading.types.includes(variable.type)) continue;
      if (entry.fit.mistyped++ === 0) this.#rowsOfWrongType++;
    }
  }

  /** Undoes `addVariable`. */
  removeVariable(variable: Variable, uses: readonly RowMatch[]): void {
    if (uses.length === 0) this.#variablesWithoutRow--;
    for (const { reading } of uses) {
      const entry = this.#readings.get(reading);
      if (entry === undefined) continue;
      if (--entry.found === 0 && entry.fit.missing++ === 0) this.#rowsWithoutVariable++;
      if (reading.types.includes(variable.type)) continue;
      if (--entry.fit.mistyped === 0) this.#rowsOfWrongType--;
    }
  }

  #addTo(set: ClassRows): void {
    const objects = this.#objects.get(set) ?? 0;
    this.#objects.set(set, objects + 1);
    if (objects > 0) return;
    for (const row of set.rows) {
      const fit = { missing: row.reads.length, mistyped: 0 };
      if (fit.missing > 0) this.#rowsWithoutVariable++;
      for (const reading of row.reads) this.#readings.set(reading, { fit, found: 0 });
    }
  }

  #removeFrom(set: ClassRows): void {
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

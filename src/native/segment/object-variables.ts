// Stores the variables of one object in columns, which take a fifth of the memory of JavaScript objects.
import { DeclaredVariable } from '../../model.js';
import type { Declaration, ManagedObject, LiveCollection, SlotRef, Variable } from '../../model.js';

/** Offset and length of a variable's frame, in 8-byte units; both 0 for a scalar. */
export interface FrameLocation {
  readonly frameOffset: number;
  readonly frameWords: number;
}

/** The contents of a variable's record. */
export interface VariableFields extends SlotRef, FrameLocation {
  readonly id: number;
  readonly declaration: Declaration;
}

/**
 * Columns of a row: id (two words), slot, incarnation, and the last round of mark and sweep that marked the variable.
 */
const STRIDE = 5;
const ID = 0;
const SLOT = 2;
const INCARNATION = 3;
const ROUND = 4;
/** V8 stores typed arrays of up to 64 bytes on its heap, without a separate allocation. */
const FIRST_CAPACITY = 3;
const WORD = 2 ** 32;
const NONE = new Uint32Array(0);
const NO_DECLARATIONS: (Declaration | undefined)[] = [];
/** Columns of a frame: offset and length. */
const FRAME_STRIDE = 2;

/** Variables in ascending order of id. Variables may be added and removed during an iteration. */
export class ObjectVariables implements LiveCollection<Variable> {
  /** Set once, after the object was created. */
  object!: ManagedObject;
  #rows = NONE;
  /** The frames by row, up to the last row that has a frame. */
  #frames = NONE;
  /** Undefined for removed variables and unused rows. */
  #declarations = NO_DECLARATIONS;
  /** Rows in use, including removed variables. */
  #used = 0;
  #size = 0;
  /** Number of compactions. After a compaction, an iterator looks up its row again. */
  #compactions = 0;

  readonly #expected: number;

  /** @param expected the expected number of variables, which is the first capacity; 0 if unknown */
  constructor(expected: number) {
    this.#expected = expected;
  }

  get size(): number {
    return this.#size;
  }

  has({ id }: Variable): boolean {
    return this.#find(id) >= 0;
  }

  /** Adds a variable. Its id must be the highest so far. */
  add(fields: VariableFields, round: number): Variable {
    const { id, slot, incarnation, declaration } = fields;
    if ((this.#used + 1) * STRIDE > this.#rows.length) this.#reserveRow();
    const at = this.#used * STRIDE;
    this.#rows[at + ID] = id;
    this.#rows[at + ID + 1] = Math.floor(id / WORD);
    this.#rows[at + SLOT] = slot;
    this.#rows[at + INCARNATION] = incarnation;
    this.#rows[at + ROUND] = round;
    this.#declarations[this.#used] = declaration;
    this.#storeFrame(fields);
    this.#used++;
    this.#size++;
    return new DeclaredVariable(this.object, id, slot, incarnation, declaration);
  }

  /** Removes and returns a variable; undefined if there is none with that id. */
  delete(id: number): Variable | undefined {
    const row = this.#find(id);
    if (row < 0) return undefined;
    const variable = this.#view(row);
    this.#declarations[row] = undefined;
    this.#size--;
    return variable;
  }

  /** Marks a variable in a round of mark and sweep; false if no variable has that id. */
  mark(id: number, round: number): boolean {
    const row = this.#find(id);
    if (row >= 0) this.#rows[row * STRIDE + ROUND] = round;
    return row >= 0;
  }

  /** For each variable, yields its id if it is not marked in the round, otherwise undefined. */
  *unmarked(round: number): Generator<number | undefined, void> {
    for (let row = 0; row < this.#used; row++)
      if (this.#declarations[row] !== undefined)
        yield this.#rows[row * STRIDE + ROUND] === round ? undefined : this.#id(row);
  }

  /** The frame of a variable; undefined if there is none with that id. */
  frame(id: number): FrameLocation | undefined {
    const row = this.#find(id);
    if (row < 0) return undefined;
    const frameOffset = this.#frames[row * FRAME_STRIDE] ?? 0;
    return { frameOffset, frameWords: this.#frames[row * FRAME_STRIDE + 1] ?? 0 };
  }

  *[Symbol.iterator](): Generator<Variable, void> {
    let compactions = this.#compactions;
    let next = 0;
    while (next < this.#used) {
      const variable = this.#view(next++);
      if (variable === undefined) continue;
      yield variable;
      if (compactions === this.#compactions) continue;
      compactions = this.#compactions;
      next = this.#rowAfter(variable.id);
    }
  }

  #view(row: number): Variable | undefined {
    const declaration = this.#declarations[row];
    if (declaration === undefined) return undefined;
    const at = row * STRIDE;
    const slot = this.#rows[at + SLOT] ?? 0;
    const incarnation = this.#rows[at + INCARNATION] ?? 0;
    return new DeclaredVariable(this.object, this.#id(row), slot, incarnation, declaration);
  }

  #id(row: number): number {
    const at = row * STRIDE + ID;
    return (this.#rows[at] ?? 0) + (this.#rows[at + 1] ?? 0) * WORD;
  }

  /** The row of a variable, or -1. */
  #find(id: number): number {
    const row = this.#rowAfter(id - 1);
    return row < this.#used && this.#id(row) === id && this.#declarations[row] !== undefined
      ? row
      : -1;
  }

  /** The first row with a higher id. */
  #rowAfter(id: number): number {
    let low = 0;
    let high = this.#used;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#id(middle) <= id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Stores the frame of the row that is being added. */
  #storeFrame({ frameOffset, frameWords }: FrameLocation): void {
    const at = this.#used * FRAME_STRIDE;
    if (at >= this.#frames.length) {
      if (frameWords === 0) return;
      const former = this.#frames;
      this.#frames = new Uint32Array((this.#rows.length / STRIDE) * FRAME_STRIDE);
      this.#frames.set(former);
    }
    this.#frames[at] = frameOffset;
    this.#frames[at + 1] = frameWords;
  }

  /** Makes room for a row: compacts the rows if at least half of the variables were removed, otherwise grows them. */
  #reserveRow(): void {
    const isSparse = this.#used > 0 && this.#size <= this.#used / 2;
    if (isSparse) this.#compact();
    else
      this.#grow(Math.max(FIRST_CAPACITY, this.#used * 2, this.#used === 0 ? this.#expected : 0));
  }

  /** Allocates exactly `capacity` rows, since an array that JavaScript grows itself starts with room for 17. */
  #grow(capacity: number): void {
    const [rows, declarations] = [this.#rows, this.#declarations];
    this.#rows = new Uint32Array(capacity * STRIDE);
    this.#rows.set(rows);
    this.#declarations = new Array<Declaration | undefined>(capacity).fill(undefined);
    for (let row = 0; row < this.#used; row++) this.#declarations[row] = declarations[row];
  }

  #compact(): void {
    let to = 0;
    for (let row = 0; row < this.#used; row++) {
      const declaration = this.#declarations[row];
      if (declaration === undefined) continue;
      this.#rows.copyWithin(to * STRIDE, row * STRIDE, (row + 1) * STRIDE);
      this.#frames.copyWithin(to * FRAME_STRIDE, row * FRAME_STRIDE, (row + 1) * FRAME_STRIDE);
      this.#declarations[to++] = declaration;
    }
    this.#declarations.fill(undefined, to);
    this.#used = to;
    this.#compactions++;
  }
}

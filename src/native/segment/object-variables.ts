// The variables of one object in columns: an object each would take five times the memory.
import { ColumnVariable } from '../../collections/column-variable.js';
import type { Declaration, ManagedObject, Members, SlotRef, Variable } from '../../model.js';

/** Where the frame of a variable is, and its length, in 8-byte units; both 0 for a scalar. */
export interface FrameLocation {
  readonly frameOffset: number;
  readonly frameWords: number;
}

/** The contents of a variable's record. */
export interface VariableFacts extends SlotRef, FrameLocation {
  readonly id: number;
  readonly declaration: Declaration;
}

/** Id (two words), slot, incarnation, round. */
const STRIDE = 5;
const ID = 0;
const SLOT = 2;
const INCARNATION = 3;
const ROUND = 4;
/** V8 keeps arrays of up to 64 bytes among its objects, without memory of their own. */
const FIRST_CAPACITY = 3;
const WORD = 2 ** 32;
const NONE = new Uint32Array(0);
const NO_DECLARATIONS: (Declaration | undefined)[] = [];
/** Offset and length of a frame. */
const FRAME_STRIDE = 2;

/** In the order of their ids. Iterations go on while variables come and go. */
export class ObjectVariables implements Members<Variable> {
  /** Set once, when it exists. */
  object!: ManagedObject;
  #rows = NONE;
  /** For each row with a frame and all before it. */
  #frames = NONE;
  /** Undefined for those that were removed, and for rows without a variable. */
  #declarations = NO_DECLARATIONS;
  /** Rows in use, those of removed variables included. */
  #used = 0;
  #size = 0;
  /** How often rows moved. */
  #moves = 0;
  readonly #likely: number;

  /** @param likely how many there will be, for all that is known: the first of them take that memory */
  constructor(likely = 0) {
    this.#likely = likely;
  }

  get size(): number {
    return this.#size;
  }
  /** Rows in use, those of removed variables included. */
  get rows(): number {
    return this.#used;
  }

  has({ id }: Variable): boolean {
    return this.#find(id) >= 0;
  }

  /** Adds a variable with a higher id than any before; returns it. */
  add(facts: VariableFacts, round: number): Variable {
    const { id, slot, incarnation, declaration } = facts;
    if ((this.#used + 1) * STRIDE > this.#rows.length) this.#makeRoom();
    const at = this.#used * STRIDE;
    this.#rows[at + ID] = id;
    this.#rows[at + ID + 1] = Math.floor(id / WORD);
    this.#rows[at + SLOT] = slot;
    this.#rows[at + INCARNATION] = incarnation;
    this.#rows[at + ROUND] = round;
    this.#declarations[this.#used] = declaration;
    this.#placeFrame(facts);
    this.#used++;
    this.#size++;
    return new ColumnVariable(this.object, id, slot, incarnation, declaration);
  }

  /** Removes a variable; undefined if there is none with that id. */
  delete(id: number): Variable | undefined {
    const row = this.#find(id);
    if (row < 0) return undefined;
    const variable = this.#view(row);
    this.#declarations[row] = undefined;
    this.#size--;
    return variable;
  }

  /** Says that a round named it; false if there is none with that id. */
  name(id: number, round: number): boolean {
    const row = this.#find(id);
    if (row >= 0) this.#rows[row * STRIDE + ROUND] = round;
    return row >= 0;
  }

  /** Whether there is one with an id from `first` on and below `end`. */
  hasBetween(first: number, end: number): boolean {
    for (let row = this.#rowAfter(first - 1); row < this.#used && this.#id(row) < end; row++)
      if (this.#declarations[row] !== undefined) return true;
    return false;
  }

  /** The ids of those that a round did not name, and undefined for each other. */
  *unnamed(round: number): Generator<number | undefined, void> {
    for (let row = 0; row < this.#used; row++)
      if (this.#declarations[row] !== undefined)
        yield this.#rows[row * STRIDE + ROUND] === round ? undefined : this.#id(row);
  }

  /** Where the frame of a variable is; undefined if there is no variable with that id. */
  frame(id: number): FrameLocation | undefined {
    const row = this.#find(id);
    if (row < 0) return undefined;
    const frameOffset = this.#frames[row * FRAME_STRIDE] ?? 0;
    return { frameOffset, frameWords: this.#frames[row * FRAME_STRIDE + 1] ?? 0 };
  }

  /** Each result is valid until the next. */
  [Symbol.iterator](): Iterator<Variable> {
    let moves = this.#moves;
    let last = 0;
    let next = 0;
    let result: { done: false; value: Variable } | undefined;
    return {
      next: () => {
        if (moves !== this.#moves) {
          moves = this.#moves;
          next = this.#rowAfter(last);
        }
        while (next < this.#used) {
          const value = this.#view(next++);
          if (value === undefined) continue;
          last = value.id;
          if (result === undefined) result = { done: false, value };
          else result.value = value;
          return result;
        }
        return { done: true, value: undefined };
      },
    };
  }

  #view(row: number): Variable | undefined {
    const declaration = this.#declarations[row];
    if (declaration === undefined) return undefined;
    const at = row * STRIDE;
    const slot = this.#rows[at + SLOT] ?? 0;
    const incarnation = this.#rows[at + INCARNATION] ?? 0;
    return new ColumnVariable(this.object, this.#id(row), slot, incarnation, declaration);
  }

  #id(row: number): number {
    const at = row * STRIDE + ID;
    return (this.#rows[at] ?? 0) + (this.#rows[at + 1] ?? 0) * WORD;
  }

  /** The row of a variable that is there, or -1. */
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

  /** Notes where the frame of the last row is. */
  #placeFrame({ frameOffset, frameWords }: FrameLocation): void {
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

  /** Moves the variables together if half of them are gone, or else takes more memory. */
  #makeRoom(): void {
    const isSparse = this.#used > 0 && this.#size <= this.#used / 2;
    if (isSparse) this.#moveTogether();
    else if (this.#used > 0) this.#grow(Math.max(FIRST_CAPACITY, this.#used * 2));
    else this.#grow(this.#likely > 0 ? this.#likely : FIRST_CAPACITY);
  }

  /** Takes no more than that: an array that grows by itself begins with room for 17. */
  #grow(capacity: number): void {
    const [rows, declarations] = [this.#rows, this.#declarations];
    this.#rows = new Uint32Array(capacity * STRIDE);
    this.#rows.set(rows);
    this.#declarations = new Array<Declaration | undefined>(capacity).fill(undefined);
    for (let row = 0; row < this.#used; row++) this.#declarations[row] = declarations[row];
  }

  #moveTogether(): void {
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
    this.#moves++;
  }
}

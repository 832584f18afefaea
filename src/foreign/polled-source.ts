// A source of values that nobody announces, in blocks of slots: owners gather them when they are copied.
import { randomUUID } from 'node:crypto';
import type { Budget } from '../budget.js';
import type {
  Declaration,
  Frame,
  ManagedObject,
  Source,
  StructureChange,
  StructureChanges,
  Variable,
} from '../model.js';

/** Slots of a block, if nothing else is said: a whole part of a page of copies. */
const BLOCK = 256;

/** Copies its present values into the slots that it has; never throws. */
export interface SlotOwner {
  refresh(): void;
}

export class Slots {
  readonly #block: number;
  #values: BigInt64Array;
  #words: Uint32Array;
  /** By the number of the block; undefined for a free one. */
  readonly #owners: (SlotOwner | undefined)[] = [];
  /** Slots of each owner's last block that are free, the next one last. */
  readonly #free = new Map<SlotOwner, number[]>();

  /** @param block slots of a block: about as many as most owners need */
  constructor(block = BLOCK) {
    this.#block = block;
    this.#values = new BigInt64Array(block);
    this.#words = new Uint32Array(block);
  }

  /** A free slot in a block of this owner. */
  take(owner: SlotOwner): number {
    const free = this.#free.get(owner) ?? [];
    this.#free.set(owner, free);
    if (free.length === 0) free.push(...this.#newBlock(owner));
    return free.pop() ?? 0;
  }

  /** The number of the present or next holder of a slot; it grows with each `release`. */
  incarnation(slot: number): number {
    return Math.max(1, (this.#words[slot] ?? 0) >>> 1);
  }

  /** Whether a slot has a value. */
  setSynced(slot: number, isSynced: boolean): void {
    this.#words[slot] = (this.incarnation(slot) << 1) | Number(isSynced);
  }

  set(slot: number, value: bigint): void {
    this.#values[slot] = value;
  }

  /** Stores a value as the bits of a double. */
  setDouble(slot: number, value: number): void {
    new Float64Array(this.#values.buffer)[slot] = value;
  }

  add(slot: number, value: bigint): void {
    this.#values[slot] = (this.#values[slot] ?? 0n) + value;
  }

  /** Frees the blocks of an owner: nobody finds a value there any more. */
  release(owner: SlotOwner): void {
    this.#free.delete(owner);
    this.#owners.forEach((each, block) => {
      if (each !== owner) return;
      for (let slot = block * this.#block; slot < (block + 1) * this.#block; slot++)
        this.#words[slot] = (this.incarnation(slot) + 1) << 1;
      this.#owners[block] = undefined;
    });
  }

  /** Copies values, after their owners made them new. */
  readValues(first: number, count: number, into: Uint8Array): number {
    const end = Math.min(first + count, this.#values.length);
    const owners = this.#owners.slice(
      Math.floor(first / this.#block),
      Math.ceil(end / this.#block),
    );
    for (const owner of new Set(owners)) owner?.refresh();
    return copy(this.#values, first, end, into);
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    return copy(this.#words, first, Math.min(first + count, this.#words.length), into);
  }

  /** The slots of a new block, from the last to the first. */
  #newBlock(owner: SlotOwner): readonly number[] {
    const vacant = this.#owners.indexOf(undefined);
    const block = vacant < 0 ? this.#owners.length : vacant;
    this.#owners[block] = owner;
    if ((block + 1) * this.#block > this.#values.length) this.#grow();
    return Array.from({ length: this.#block }, (_, index) => (block + 1) * this.#block - 1 - index);
  }

  #grow(): void {
    const values = new BigInt64Array(this.#values.length * 2);
    const words = new Uint32Array(this.#words.length * 2);
    values.set(this.#values);
    words.set(this.#words);
    this.#values = values;
    this.#words = words;
  }
}

function copy(from: BigInt64Array | Uint32Array, first: number, end: number, into: Uint8Array) {
  if (end <= first) return 0;
  const bytes = from.BYTES_PER_ELEMENT;
  into.set(new Uint8Array(from.buffer, first * bytes, (end - first) * bytes));
  return end - first;
}

export interface PolledObject extends ManagedObject {
  readonly children: Set<ManagedObject>;
  readonly variables: Set<Variable>;
}

/** What an object has beside its parent. */
type GatheredFacts = Pick<ManagedObject, 'name' | 'className' | 'labels'>;

/** Changes that one call of `sync` brings. */
const SLICE = 8192;
/** The number of the state `normal`. */
const NORMAL = 1n;
/** The most characters of a text that is shown. */
const MAX_TEXT = 256;
const NO_IDENTITY = { host: '', instance: '', application: '' };

export class PolledSource implements Source {
  readonly generation = randomUUID();
  readonly roots = new Set<ManagedObject>();
  readonly slots: Slots;
  readonly #texts = new Map<number, string>();
  readonly #maxItems: number;
  #changes: StructureChange[] = [];
  #lastId = 0;
  #items = 0;

  /**
   * @param maxItems the most objects and variables that it holds
   * @param slots an owner's slots come in blocks of a size that fits most owners
   */
  constructor(maxItems: number, slots = new Slots()) {
    this.#maxItems = maxItems;
    this.slots = slots;
  }

  /** Whether so many more objects and variables may be added. */
  hasRoom(items = 1): boolean {
    return this.#items + items <= this.#maxItems;
  }

  get frameBytes(): number {
    return this.#texts.size * MAX_TEXT * 4;
  }

  /** Adds an object in its normal state; a root without a parent. */
  addObject(owner: SlotOwner, facts: GatheredFacts, parent?: PolledObject): PolledObject {
    const slot = this.slots.take(owner);
    const { name, className, labels } = facts;
    const object: PolledObject = {
      id: ++this.#lastId,
      ...{ slot, incarnation: this.slots.incarnation(slot) },
      ...{ name, className, parent, labels: labels ?? {} },
      children: new Set<ManagedObject>(),
      variables: new Set<Variable>(),
      identity: NO_IDENTITY,
      asOf: undefined,
    };
    this.slots.set(slot, NORMAL);
    this.slots.setSynced(slot, true);
    (parent?.children ?? this.roots).add(object);
    this.#items++;
    this.#changes.push({ kind: 'object-added', object });
    return object;
  }

  /** Adds a variable whose value its owner has still to set. */
  addVariable(owner: SlotOwner, object: PolledObject, declaration: Declaration): Variable {
    const slot = this.slots.take(owner);
    const incarnation = this.slots.incarnation(slot);
    const id = ++this.#lastId;
    const { name, type, kind, unit, help, schema } = declaration;
    // Property by property: objects that are built by spreading take ten times as long.
    const variable: Variable = {
      id,
      object,
      slot,
      incarnation,
      declaration,
      name,
      type,
      kind,
      unit,
      help,
      schema,
    };
    object.variables.add(variable);
    this.#items++;
    this.#changes.push({ kind: 'variable-added', variable });
    return variable;
  }

  /** Removes an object with all below it, which has the same owner, and all values of that. */
  remove(owner: SlotOwner, object: PolledObject): void {
    (object.parent as PolledObject | undefined)?.children.delete(object);
    this.#changes.push({ kind: 'object-removed', object });
    this.#forget(object);
    this.slots.release(owner);
  }

  setText({ id, slot }: Variable, text: string): void {
    const cut = text.slice(0, MAX_TEXT);
    if (this.#texts.get(id) === cut) return;
    this.#texts.set(id, cut);
    // The slot of a text counts how often it changed.
    this.slots.add(slot, 1n);
  }

  sync(): StructureChanges {
    const changes = this.#changes.slice(0, SLICE);
    this.#changes = this.#changes.slice(SLICE);
    return { changes, hasMore: this.#changes.length > 0 };
  }

  hasChanges(): boolean {
    return this.#changes.length > 0;
  }

  readSlots(first: number, count: number, into: Uint8Array): number {
    return this.slots.readValues(first, count, into);
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    return this.slots.readWords(first, count, into);
  }

  readFrame({ id }: Variable, budget?: Budget): Frame | undefined {
    const text = this.#texts.get(id);
    if (text === undefined) return undefined;
    budget?.spend(0, text.length);
    return { type: 'string', text };
  }

  #forget(object: ManagedObject): void {
    this.#items -= 1 + object.variables.size;
    for (const { id } of object.variables) this.#texts.delete(id);
    for (const child of object.children) this.#forget(child);
  }
}

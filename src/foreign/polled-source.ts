// A source for formats without notifications. Before a reader copies values, the writers of the slots store the current
// values.
import { randomUUID } from 'node:crypto';
import type { Budget } from '../budget.js';
import { DeclaredVariable, NO_IDENTITY } from '../model.js';
import { pluralize } from '../pluralize.js';
import type {
  Declaration,
  Frame,
  ManagedObject,
  Source,
  DeclaredMetric,
  StructureChange,
  StructureChanges,
  Variable,
  Verdict,
} from '../model.js';

/** The default number of slots per slab. Readers copy multiples of this number, so no read splits a slab. */
const SLAB = 256;

/** Writes the values of slots, such as those of one JVM or one Varnish segment. */
export interface SlotWriter {
  /**
   * Stores the current values in the slots; never throws. It runs independently of `Poller.poll`, so it must itself
   * detect a new publisher.
   */
  writeSlots(): void;
}

/** The slabs of a writer, and the next slot of the last one. */
interface Allocation {
  readonly slabs: number[];
  next: number;
}

/** Slots in equal slabs. Each slab has one writer: values from two slabs may come from two calls of `writeSlots`. */
export class Slots {
  readonly #slab: number;
  #values: BigInt64Array;
  #words: Uint32Array;
  /** The writer of each slab; undefined for a free slab. */
  readonly #writers: (SlotWriter | undefined)[] = [];
  readonly #allocations = new Map<SlotWriter, Allocation>();
  readonly #vacant: number[] = [];

  /** @param slab the number of slots per slab: about as many as most writers need */
  constructor(slab = SLAB) {
    this.#slab = slab;
    this.#values = new BigInt64Array(slab);
    this.#words = new Uint32Array(slab);
  }

  /** Takes a free slot from a slab of `writer`. */
  take(writer: SlotWriter): number {
    const allocation = this.#allocations.get(writer) ?? { slabs: [], next: 0 };
    this.#allocations.set(writer, allocation);
    if (allocation.next % this.#slab === 0) {
      const slab = this.#newSlab(writer);
      allocation.slabs.push(slab);
      allocation.next = slab * this.#slab;
    }
    return allocation.next++;
  }

  /** The incarnation of a slot. Each `release` increments it. */
  incarnation(slot: number): number {
    return Math.max(1, (this.#words[slot] ?? 0) >>> 1);
  }

  /** Sets whether a slot has a value. */
  setSynced(slot: number, isSynced: boolean): void {
    this.#words[slot] = (this.incarnation(slot) << 1) | Number(isSynced);
  }

  set(slot: number, value: bigint): void {
    this.#values[slot] = value;
  }

  /** Stores a value and marks the slot as synced. */
  setFirst(slot: number, value: bigint): void {
    this.set(slot, value);
    this.setSynced(slot, true);
  }

  /** Stores the bits of a double; does not mark the slot as synced. */
  setDouble(slot: number, value: number): void {
    new Float64Array(this.#values.buffer)[slot] = value;
  }

  add(slot: number, value: bigint): void {
    this.#values[slot] = (this.#values[slot] ?? 0n) + value;
  }

  /** Frees the slabs of a writer, and ends the incarnations of their slots. */
  release(writer: SlotWriter): void {
    for (const slab of this.#allocations.get(writer)?.slabs ?? []) {
      for (let slot = slab * this.#slab; slot < (slab + 1) * this.#slab; slot++)
        this.#words[slot] = (this.incarnation(slot) + 1) << 1;
      this.#writers[slab] = undefined;
      this.#vacant.push(slab);
    }
    this.#allocations.delete(writer);
  }

  /** Lets the writers store the values, then copies the values. Returns their number. */
  readValues(first: number, count: number, into: Uint8Array): number {
    const end = Math.min(first + count, this.#values.length);
    const [from, to] = [Math.floor(first / this.#slab), Math.ceil(end / this.#slab)];
    for (const writer of new Set(this.#writers.slice(from, to))) writer?.writeSlots();
    return copy(this.#values, first, end, into);
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    return copy(this.#words, first, Math.min(first + count, this.#words.length), into);
  }

  #newSlab(writer: SlotWriter): number {
    const slab = this.#vacant.pop() ?? this.#writers.length;
    this.#writers[slab] = writer;
    if ((slab + 1) * this.#slab > this.#values.length) this.#grow();
    return slab;
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

/** Makes the declaration of a gauge without a schema. `metric` states the name and help text of its Prometheus metric. */
export const gauge = (
  name: string,
  type: 'i64' | 'u64',
  unit = '',
  metric?: DeclaredMetric,
): Declaration => ({
  ...{ name, type, kind: 'gauge', unit, help: metric?.help ?? '', schema: [] },
  ...(metric && { metric }),
});

/**
 * A `live` verdict, whose reason states how many segments, JVMs or files are shown, how many are left out, and the first
 * refusal.
 */
export function liveVerdict(
  count: number,
  [singular, plural]: readonly [string, string],
  refusals: readonly string[],
  leftOut = refusals.length,
): Verdict {
  const shown = `${pluralize(count, `${singular} is`, `${plural} are`)} shown`;
  const [first] = refusals;
  if (first === undefined) return { state: 'live', reason: shown };
  const all = leftOut === 0 ? shown : `${shown}, ${leftOut} left out`;
  return { state: 'live', reason: `${all}: ${first}`, isPartial: true };
}

/** The maximum number of changes that one call of `readChanges` returns. */
const SLICE = 8192;
/** The number of the management state `normal`. */
const NORMAL = 1n;
/** The maximum number of characters of a string value. */
const MAX_TEXT = 256;

/** An upper bound of the size of a frame in memory. */
function bytesOfFrame(frame: Frame): number {
  if (frame.type === 'string') return 4 * frame.text.length;
  return 16 + (frame.type === 'histogram' ? frame.counts : frame.values).byteLength;
}

/**
 * A source that a poller fills. The slot of an object holds its state, the slot of a text the number of its changes.
 * Change the tree before `readChanges`. If names change, keep the source, and replace an object below its root.
 */
export class PolledSource implements Source {
  readonly generation = randomUUID();
  readonly roots = new Set<ManagedObject>();
  readonly slots: Slots;
  /** The frames by variable id. */
  readonly #frames = new Map<number, Frame>();
  #frameBytes = 0;
  readonly #maxItems: number;
  #changes: StructureChange[] = [];
  #lastId = 0;
  #items = 0;

  /**
   * @param maxItems the maximum number of objects and variables of the source
   * @param slots empty slots, with a slab size that fits most writers
   */
  constructor(maxItems: number, slots = new Slots()) {
    this.#maxItems = maxItems;
    this.slots = slots;
  }

  /** Whether the source has room for `items` more objects and variables. */
  hasRoom(items = 1): boolean {
    return this.#items + items <= this.#maxItems;
  }

  get frameBytes(): number {
    return this.#frameBytes;
  }

  /** Adds an object in the state `normal`. An object without a parent is a root. */
  addObject(
    writer: SlotWriter,
    facts: Pick<ManagedObject, 'name' | 'className' | 'labels' | 'startedUnixMs'>,
    parent?: PolledObject,
  ): PolledObject {
    const { name, className, labels, startedUnixMs } = facts;
    const slot = this.slots.take(writer);
    const object: PolledObject = {
      id: ++this.#lastId,
      ...{ slot, incarnation: this.slots.incarnation(slot) },
      ...{ name, className, parent, labels: labels ?? {}, startedUnixMs },
      children: new Set<ManagedObject>(),
      variables: new Set<Variable>(),
      identity: NO_IDENTITY,
      asOf: undefined,
    };
    this.slots.setFirst(slot, NORMAL);
    (parent?.children ?? this.roots).add(object);
    this.#items++;
    this.#changes.push({ kind: 'object-added', object });
    return object;
  }

  /** Adds a variable without a value. Its writer sets the first value later. */
  addVariable(writer: SlotWriter, object: PolledObject, declaration: Declaration): Variable {
    const slot = this.slots.take(writer);
    const incarnation = this.slots.incarnation(slot);
    const id = ++this.#lastId;
    const variable = new DeclaredVariable(object, id, slot, incarnation, declaration);
    object.variables.add(variable);
    this.#items++;
    this.#changes.push({ kind: 'variable-added', variable });
    return variable;
  }

  /** Removes an object with its subtree, and releases the slots of `writer`, which must write the whole subtree. */
  remove(writer: SlotWriter, object: PolledObject): void {
    const siblings = (object.parent as PolledObject | undefined)?.children ?? this.roots;
    siblings.delete(object);
    this.#changes.push({ kind: 'object-removed', object });
    this.#forget(object);
    this.slots.release(writer);
  }

  /** Removes a variable, and releases the slots of `writer`, which must write nothing else. */
  removeVariable(writer: SlotWriter, variable: Variable): void {
    (variable.object as PolledObject).variables.delete(variable);
    this.#changes.push({ kind: 'variable-removed', variable });
    this.#items--;
    this.#deleteFrame(variable.id);
    this.slots.release(writer);
  }

  setText(variable: Variable, text: string): void {
    const cut = text.slice(0, MAX_TEXT);
    const last = this.#frames.get(variable.id);
    if (last?.type === 'string' && last.text === cut) return;
    this.setFrame(variable, { type: 'string', text: cut });
  }

  setFrame({ id, slot }: Variable, frame: Frame): void {
    this.#deleteFrame(id);
    this.#frames.set(id, frame);
    this.#frameBytes += bytesOfFrame(frame);
    // The slot of such a variable counts the changes of its value.
    this.slots.add(slot, 1n);
  }

  readChanges(): StructureChanges {
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
    const frame = this.#frames.get(id);
    if (frame !== undefined) budget?.spend(0, bytesOfFrame(frame));
    return frame;
  }

  #forget(object: ManagedObject): void {
    this.#items -= 1 + object.variables.size;
    for (const { id } of object.variables) this.#deleteFrame(id);
    for (const child of object.children) this.#forget(child);
  }

  #deleteFrame(id: number): void {
    const last = this.#frames.get(id);
    if (last !== undefined) this.#frameBytes -= bytesOfFrame(last);
    this.#frames.delete(id);
  }
}

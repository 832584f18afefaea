// A source of managed objects in memory, which a test changes in every way that a publisher can.
import { NO_IDENTITY, OBJECT_STATES } from '#app/model.js';
import type {
  Declaration,
  Frame,
  ManagedObject,
  ObjectState,
  SlotRef,
  DeclaredMetric,
  Source,
  StructureChange,
  StructureChanges,
  ValueType,
  Variable,
  VariableKind,
} from '#app/model.js';

export type FakeValue = bigint | number | boolean | string | Frame;

export interface FakeObject extends ManagedObject {
  readonly children: Set<ManagedObject>;
  readonly variables: Set<Variable>;
}

export interface ObjectOptions {
  readonly parent?: FakeObject;
  readonly state?: ObjectState;
  /** False: the object exists, but is not synced yet. */
  readonly isSynced?: boolean;
  /** The slot to use, even if another object uses it. Default: a free one. */
  readonly slot?: number;
  readonly asOf?: SlotRef;
  readonly labels?: Readonly<Record<string, string>>;
  readonly startedUnixMs?: number;
}

export interface VariableOptions {
  readonly type: ValueType;
  /** Undefined: the variable exists, but is not synced yet. */
  readonly value?: FakeValue | undefined;
  readonly kind?: VariableKind;
  readonly unit?: string;
  readonly help?: string;
  readonly schema?: readonly number[];
  readonly metric?: DeclaredMetric;
  readonly slot?: number;
}

export class FakeSource implements Source {
  readonly generation = 'fake';
  startedUnixMs: number | undefined;
  frameBytes = Infinity;
  readonly roots = new Set<ManagedObject>();
  /** Framed variables whose frame changes during every copy, so that no copy is consistent. */
  readonly restless = new Set<Variable>();
  /** The first slot and the count of every call of `readSlots`. */
  readonly slotReads: [number, number][] = [];
  /** Runs after each copy of slots or words. */
  afterCopy: () => void = () => undefined;
  /** The first slot that cannot be read, as if the file were truncated there. */
  end = Infinity;
  #values = new BigUint64Array(1024);
  #words = new Uint32Array(1024);
  /** The frames by variable id. */
  readonly #frames = new Map<number, Frame>();
  readonly #declarations = new Map<string, Declaration>();
  readonly #free: number[] = [];
  #changes: StructureChange[] = [];
  #lastId = 0;
  #top = 0;

  addObject(name: string, className: string, options: ObjectOptions = {}): FakeObject {
    const { parent, state = 'normal', isSynced = true, asOf, labels, startedUnixMs } = options;
    const place = this.#place(options.slot);
    const object: FakeObject = {
      ...place,
      id: ++this.#lastId,
      name,
      className,
      parent,
      children: new Set<ManagedObject>(),
      variables: new Set<Variable>(),
      identity: NO_IDENTITY,
      asOf,
      startedUnixMs,
      ...(labels && { labels }),
    };
    (parent?.children ?? this.roots).add(object);
    this.setState(object, state);
    this.setSynced(object, isSynced);
    this.#changes.push({ kind: 'object-added', object });
    return object;
  }

  addVariable(object: FakeObject, name: string, options: VariableOptions): Variable {
    const { type, value, kind = 'unknown', unit = '', help = '', schema = [] } = options;
    const { metric } = options;
    const place = this.#place(options.slot);
    const id = ++this.#lastId;
    const declared = { name, type, kind, unit, help, schema, ...(metric && { metric }) };
    const declaration = this.#shared(declared);
    const variable: Variable = { ...place, ...declared, id, object, declaration };
    object.variables.add(variable);
    this.setSynced(variable, value !== undefined);
    if (value !== undefined) this.set(variable, value);
    this.#changes.push({ kind: 'variable-added', variable });
    return variable;
  }

  /** Stores a value. For a framed variable it stores the frame, and the slot counts the updates. */
  set(variable: Variable, value: FakeValue): void {
    const { slot } = variable;
    if (typeof value === 'string') this.#setFrame(variable, { type: 'string', text: value });
    else if (typeof value === 'object') this.#setFrame(variable, value);
    else this.#values[slot] = bitsOf(value, variable.type);
  }

  setState(object: ManagedObject, state: ObjectState | bigint): void {
    const number = typeof state === 'bigint' ? state : BigInt(OBJECT_STATES.indexOf(state));
    this.#values[object.slot] = number;
  }

  /**
   * Stores bits in a slot that no variable uses, such as the "as of" of a root, or that another variable now uses.
   */
  setSlot({ slot, incarnation }: SlotRef, bits: bigint): void {
    this.#reserve(slot);
    this.#values[slot] = bits;
    this.setSynced({ slot, incarnation }, true);
  }

  setSynced({ slot, incarnation }: SlotRef, isSynced: boolean): void {
    this.#words[slot] = (incarnation << 1) | Number(isSynced);
  }

  /** Removes an item and its descendants, and frees their slots in the order that the format requires. */
  remove(item: FakeObject | Variable): void {
    if (isVariable(item)) {
      (item.object.variables as Set<Variable>).delete(item);
      this.#changes.push({ kind: 'variable-removed', variable: item });
      this.#release(item);
      return;
    }
    const siblings = (item.parent?.children ?? this.roots) as Set<ManagedObject>;
    siblings.delete(item);
    this.#changes.push({ kind: 'object-removed', object: item });
    this.#releaseTree(item);
  }

  readChanges(): StructureChanges {
    const changes = this.#changes;
    this.#changes = [];
    return { changes, hasMore: false };
  }

  hasChanges(): boolean {
    return this.#changes.length > 0;
  }

  readSlots(first: number, count: number, into: Uint8Array): number {
    this.slotReads.push([first, count]);
    this.#reserve(first + count);
    const end = Math.max(first, Math.min(first + count, this.end));
    into.set(new Uint8Array(this.#values.slice(first, end).buffer));
    this.afterCopy();
    return end - first;
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    this.#reserve(first + count);
    const end = Math.max(first, Math.min(first + count, this.end));
    into.set(new Uint8Array(this.#words.slice(first, end).buffer));
    this.afterCopy();
    return end - first;
  }

  readFrame(variable: Variable): Frame | undefined {
    const isUnstable = [...this.restless].some(({ id }) => id === variable.id);
    return isUnstable ? undefined : this.#frames.get(variable.id);
  }

  /** Returns one shared object for equal declarations, as the readers of all formats do. */
  #shared(declaration: Declaration): Declaration {
    const key = JSON.stringify(declaration);
    const known = this.#declarations.get(key);
    if (known === undefined) this.#declarations.set(key, declaration);
    return known ?? declaration;
  }

  #setFrame(variable: Variable, frame: Frame): void {
    this.#frames.set(variable.id, frame);
    this.#values[variable.slot] = (this.#values[variable.slot] ?? 0n) + 1n;
  }

  #place(wanted = this.#free.shift() ?? this.#top): SlotRef {
    this.#reserve(wanted);
    this.#top = Math.max(this.#top, wanted + 1);
    return { slot: wanted, incarnation: Math.max(1, (this.#words[wanted] ?? 0) >>> 1) };
  }

  #release({ slot, incarnation }: SlotRef): void {
    this.#words[slot] = (incarnation + 1) << 1;
    this.#free.push(slot);
  }

  #releaseTree(object: ManagedObject): void {
    this.#release(object);
    for (const variable of object.variables) this.#release(variable);
    for (const child of object.children) this.#releaseTree(child);
  }

  #reserve(slot: number): void {
    if (slot < this.#values.length) return;
    const values = new BigUint64Array(slot * 2);
    const words = new Uint32Array(slot * 2);
    values.set(this.#values);
    words.set(this.#words);
    this.#values = values;
    this.#words = words;
  }
}

const isVariable = (item: FakeObject | Variable): item is Variable => 'object' in item;

/** The 8 bytes of a value as a publisher stores them. */
export function bitsOf(value: bigint | number | boolean, type: ValueType): bigint {
  if (type !== 'f64') return BigInt.asUintN(64, BigInt(value));
  return new BigUint64Array(Float64Array.of(Number(value)).buffer)[0] ?? 0n;
}

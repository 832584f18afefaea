// A tree of managed objects in memory, which a component serves.
import type { ObjectState, SlotRef, ValueType, VariableKind } from '#app/model.js';
import type {
  ObjectOptions,
  PublishedObject,
  VariableOptions,
} from '#app/native/publisher/publisher-options.js';
import { isFramed, scalarType } from '#app/published.js';
import type { FramedType } from '#app/published.js';
import type { ObjectPublisher, ValueHandle, ValueHandles } from '../live-tree.js';

/** A value of a variable. Integers are bigints, so that all 64 bits are exact. */
export type ServedValue = bigint | number | boolean | string;

/** A variable. Only its handle changes it. */
export interface ServedVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  readonly ref: SlotRef;
  /** The maximum number of bytes of a text. */
  readonly room: number;
  /** The value; undefined for a variable that has no value yet. */
  value: ServedValue | undefined;
  isGone: boolean;
}

type ServedScalar = number | bigint | boolean;

const integer = (value: ServedScalar): bigint =>
  BigInt(typeof value === 'number' ? Math.trunc(value) : value);

/** Converts numbers to stored values by type. Integers wrap at 64 bits. */
const STORED = {
  u64: (value: ServedScalar) => BigInt.asUintN(64, integer(value)),
  i64: (value: ServedScalar) => BigInt.asIntN(64, integer(value)),
  f64: Number,
  bool: Boolean,
};

/** Makes handles for the types that have frames in a segment. Cuts texts to the length that a segment would keep. */
const HANDLES: { readonly [T in FramedType]: (kept: ServedVariable) => ValueHandles[T] } = {
  string: (kept) => ({ ref: kept.ref, set: (text) => store(kept, cut(text, kept.room)) }),
  // The vendor's JSON has neither of these types, so the tree does not store their values.
  histogram: (kept) => ({ ref: kept.ref, set: () => !kept.isGone, observe: () => !kept.isGone }),
  summary: (kept) => ({ ref: kept.ref, set: () => !kept.isGone }),
};

function handleOf<T extends ValueType>(kept: ServedVariable, type: T): ValueHandles[T] {
  const handle = isFramed(type) ? HANDLES[type](kept) : scalar(kept, STORED[scalarType(type).bits]);
  return handle as ValueHandles[T];
}

function scalar(
  kept: ServedVariable,
  kindOf: (value: ServedScalar) => Exclude<ServedValue, string>,
): ValueHandles['u64'] {
  const set = (value: ServedScalar) => store(kept, kindOf(value));
  return {
    ref: kept.ref,
    set,
    add: (value) => {
      const before = kept.value ?? kindOf(0);
      const sum =
        typeof before === 'bigint' ? before + integer(value) : Number(before) + Number(value);
      return set(sum);
    },
  };
}

function store(kept: ServedVariable, value: ServedValue): boolean {
  if (kept.isGone) return false;
  kept.value = value;
  return true;
}

/** The text as well-formed Unicode, truncated to the bytes in `room`. */
function cut(text: string, room: number): string {
  const bytes = Buffer.alloc(Math.min(room, text.length * 3));
  const { written } = new TextEncoder().encodeInto(text, bytes);
  return bytes.toString('utf8', 0, written);
}

/** An object. Variables and children are in the order in which they were added. */
export interface ServedObject {
  readonly id: string;
  readonly className: string;
  readonly handle: PublishedObject;
  readonly depth: number;
  readonly siblings: Set<ServedObject>;
  readonly variables: Set<ServedVariable>;
  readonly children: Set<ServedObject>;
  state: ObjectState;
}

/** The maximum number of levels of a tree: more than any real tree has, and few enough for recursion. */
const MAX_DEPTH = 1000;

/** A tree in memory. Ignores whether an object is synced, since the vendor's JSON does not show the difference. */
export class ServedTree implements ObjectPublisher {
  readonly #roots = new Set<ServedObject>();
  readonly #objects = new Map<number, ServedObject>();
  readonly #owners = new Map<number, ServedObject>();
  #lastId = 0;

  get roots(): Iterable<ServedObject> {
    return this.#roots;
  }

  addRoot(name: string, className: string, options: ObjectOptions = {}): PublishedObject {
    return this.#add(undefined, name, className, options);
  }

  /**
   * Adds an object. Below a removed parent, adds nothing and returns a handle with the id 0.
   * @throws RangeError for a depth of more than 1000 levels
   */
  addObject(
    parent: PublishedObject,
    name: string,
    className: string,
    options: ObjectOptions = {},
  ): PublishedObject {
    return this.#add(parent, name, className, options);
  }

  addVariable<T extends ValueType>(
    object: PublishedObject,
    name: string,
    type: T,
    { kind = 'unknown', textBytes = 64 }: VariableOptions = {},
  ): ValueHandles[T] {
    const owner = this.#objects.get(object.id);
    const kept: ServedVariable = {
      name: wellFormed(name),
      type,
      kind,
      value: undefined,
      ref: { slot: ++this.#lastId, incarnation: 1 },
      room: Math.ceil(textBytes / 8) * 8,
      isGone: owner === undefined,
    };
    if (owner !== undefined) {
      owner.variables.add(kept);
      this.#owners.set(kept.ref.slot, owner);
    }
    return handleOf(kept, type);
  }

  setState(object: PublishedObject, state: ObjectState): boolean {
    const kept = this.#objects.get(object.id);
    if (kept !== undefined) kept.state = state;
    return kept !== undefined;
  }

  setSynced(object: PublishedObject): boolean {
    return this.#objects.has(object.id);
  }

  removeObject(object: PublishedObject): void {
    const kept = this.#objects.get(object.id);
    kept?.siblings.delete(kept);
    if (kept !== undefined) this.#forget(kept);
  }

  removeVariable({ ref }: Pick<ValueHandle, 'ref'>): void {
    const owner = this.#owners.get(ref?.slot ?? 0);
    for (const kept of owner?.variables ?? [])
      if (kept.ref === ref) {
        owner?.variables.delete(kept);
        this.#forgetVariable(kept);
      }
  }

  /** Does nothing: each request reads the current tree. */
  notify(): void {
    return;
  }

  #add(
    parent: PublishedObject | undefined,
    name: string,
    className: string,
    { state = 'normal' }: ObjectOptions,
  ): PublishedObject {
    const above = parent === undefined ? undefined : this.#objects.get(parent.id);
    const siblings = parent === undefined ? this.#roots : above?.children;
    if (siblings === undefined) return { id: 0, name, ref: undefined, parent, asOf: undefined };
    const depth = (above?.depth ?? 0) + 1;
    if (depth > MAX_DEPTH)
      throw new RangeError(`Object "${name}" is too deep: it has ${MAX_DEPTH} objects above it`);
    const id = ++this.#lastId;
    const handle = { id, name, ref: { slot: id, incarnation: 1 }, parent, asOf: undefined };
    const kept: ServedObject = {
      id: wellFormed(name),
      className: wellFormed(className),
      state,
      handle,
      depth,
      siblings,
      variables: new Set(),
      children: new Set(),
    };
    this.#objects.set(id, kept);
    siblings.add(kept);
    return handle;
  }

  #forget(gone: ServedObject): void {
    this.#objects.delete(gone.handle.id);
    for (const variable of gone.variables) this.#forgetVariable(variable);
    for (const child of gone.children) this.#forget(child);
  }

  #forgetVariable(gone: ServedVariable): void {
    this.#owners.delete(gone.ref.slot);
    gone.isGone = true;
  }
}

/** Replaces lone surrogates in a name, since UTF-8 cannot encode them. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

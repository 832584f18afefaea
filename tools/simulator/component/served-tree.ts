// A tree of managed objects in memory, for a component that serves it.
import type { ObjectState, SlotRef, ValueType, VariableKind } from '#app/model.js';
import type {
  ObjectOptions,
  PublishedObject,
  VariableOptions,
} from '#app/native/publisher/publisher-options.js';
import { isFramed, scalarType } from '#app/published.js';
import type { FramedType } from '#app/published.js';
import type { ObjectPublisher, ValueHandle, ValueHandles } from '../live-tree.js';

/** Integers are bigints, so that all 64 bits are exact. */
type ServedValue = bigint | number | boolean | string;

/** A variable as it is now. */
export interface ServedVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  /** Undefined: it exists and has no value yet. */
  readonly value: ServedValue | undefined;
}

/** The target of a handle's stores. */
interface KeptVariable extends ServedVariable {
  readonly ref: SlotRef;
  /** The most bytes of a text. */
  readonly room: number;
  value: ServedValue | undefined;
  isGone: boolean;
}

type ServedScalar = number | bigint | boolean;

const integer = (value: ServedScalar): bigint =>
  BigInt(typeof value === 'number' ? Math.trunc(value) : value);

/** Integers wrap at 64 bits. */
const STORED = {
  u64: (value: ServedScalar) => BigInt.asUintN(64, integer(value)),
  i64: (value: ServedScalar) => BigInt.asIntN(64, integer(value)),
  f64: Number,
  bool: Boolean,
};

/** Texts end where a segment's would. */
const HANDLES: { readonly [T in FramedType]: (kept: KeptVariable) => ValueHandles[T] } = {
  string: (kept) => ({ ref: kept.ref, set: (text) => store(kept, cut(text, kept.room)) }),
  // The vendor has neither of these types: their values are not kept.
  histogram: (kept) => ({ ref: kept.ref, set: () => !kept.isGone, observe: () => !kept.isGone }),
  summary: (kept) => ({ ref: kept.ref, set: () => !kept.isGone }),
};

function handleOf<T extends ValueType>(kept: KeptVariable, type: T): ValueHandles[T] {
  const handle = isFramed(type) ? HANDLES[type](kept) : scalar(kept, STORED[scalarType(type).bits]);
  return handle as ValueHandles[T];
}

function scalar(
  kept: KeptVariable,
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

function store(kept: KeptVariable, value: ServedValue): boolean {
  if (kept.isGone) return false;
  kept.value = value;
  return true;
}

/** As many whole characters as fit, as well-formed Unicode. */
function cut(text: string, room: number): string {
  const bytes = Buffer.alloc(Math.min(room, text.length * 3));
  const { written } = new TextEncoder().encodeInto(text, bytes);
  return bytes.toString('utf8', 0, written);
}

/** An object as it is now; variables and children are in the order of their addition. */
export interface ServedObject {
  readonly id: string;
  readonly className: string;
  readonly state: ObjectState;
  readonly variables: Iterable<ServedVariable>;
  readonly children: Iterable<ServedObject>;
}

interface KeptObject extends ServedObject {
  readonly handle: PublishedObject;
  readonly depth: number;
  readonly siblings: Set<KeptObject>;
  readonly variables: Set<KeptVariable>;
  readonly children: Set<KeptObject>;
  state: ObjectState;
}

/** Far more levels than any real tree, and few enough for recursion. */
const MAX_DEPTH = 1000;

/** Does not keep whether an object is synced: the vendor's view does not show it. */
export class ServedTree implements ObjectPublisher {
  readonly #roots = new Set<KeptObject>();
  readonly #objects = new Map<number, KeptObject>();
  readonly #owners = new Map<number, KeptObject>();
  #lastId = 0;

  get roots(): Iterable<ServedObject> {
    return this.#roots;
  }

  addRoot(name: string, className: string, options: ObjectOptions = {}): PublishedObject {
    return this.#add(undefined, name, className, options);
  }

  /**
   * Adds below an object; below a removed one the handle's `id` is 0 and nothing is kept.
   * @throws RangeError when it would be 1001 levels deep
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
    const kept: KeptVariable = {
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
      throw new RangeError(`Object "${name}" has ${MAX_DEPTH} objects on a path above it already`);
    const id = ++this.#lastId;
    const handle = { id, name, ref: { slot: id, incarnation: 1 }, parent, asOf: undefined };
    const kept: KeptObject = {
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

  #forget(gone: KeptObject): void {
    this.#objects.delete(gone.handle.id);
    for (const variable of gone.variables) this.#forgetVariable(variable);
    for (const child of gone.children) this.#forget(child);
  }

  #forgetVariable(gone: KeptVariable): void {
    this.#owners.delete(gone.ref.slot);
    gone.isGone = true;
  }
}

/** Names are sent as UTF-8, which has no lone surrogates. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

// The vendor's type names, by our types.
export const VENDOR_TYPES = {
  counter: 'Counter',
  gauge: 'Gauge',
  number: 'Numeric',
  large: 'Large Numeric',
  flag: 'Boolean',
  text: 'String',
  /** Not a vendor type: the vendor has no fractions, so readers must use the JSON type. */
  fraction: 'Floating',
} as const;

const MIN = -(2n ** 31n);
const MAX = 2n ** 31n - 1n;

/** Undefined if the vendor has no such type. */
export function vendorType(
  type: ValueType,
  kind: VariableKind,
  value: ServedValue | undefined,
): string | undefined {
  switch (type) {
    case 'bool':
      return VENDOR_TYPES.flag;
    case 'string':
      return VENDOR_TYPES.text;
    case 'f64':
      return VENDOR_TYPES.fraction;
    case 'u64':
    case 'i64':
      if (kind === 'counter') return VENDOR_TYPES.counter;
      if (kind === 'gauge') return VENDOR_TYPES.gauge;
      return typeof value === 'bigint' && (value < MIN || value > MAX)
        ? VENDOR_TYPES.large
        : VENDOR_TYPES.number;
    default:
      return undefined;
  }
}

/** A bigint is an integer, a number is a fraction. */
export type VendorValue = bigint | number | boolean | string | null;

export interface VendorVariable {
  readonly Name: string;
  readonly Type: string;
  readonly Value: VendorValue;
}

export interface VendorObject {
  readonly Instance: string;
  readonly Class: string;
  readonly State?: string;
  readonly Variables: readonly VendorVariable[];
  readonly Children: readonly VendorObject[];
}

export const STATE_TEXTS: Readonly<Record<ObjectState, string>> = {
  init: 'Init',
  normal: 'Normal',
  manual_recovery: 'Manual Recovery',
  auto_recovery: 'Auto Recovery',
  dead: 'Dead',
  invalid: 'Invalid',
};

/** Normal objects have no `State`; histograms and summaries are left out. */
export function vendorObject({
  id,
  className,
  state,
  variables,
  children,
}: ServedObject): VendorObject {
  return {
    Instance: id,
    Class: className,
    ...(state !== 'normal' && { State: STATE_TEXTS[state] }),
    Variables: vendorVariables(variables),
    Children: Array.from(children, vendorObject),
  };
}

function vendorVariables(variables: Iterable<ServedVariable>): VendorVariable[] {
  const made: VendorVariable[] = [];
  for (const { name, type, kind, value } of variables) {
    const Type = vendorType(type, kind, value);
    if (Type !== undefined) made.push({ Name: name, Type, Value: value ?? null });
  }
  return made;
}

/** The variables that identify a run of a process. */
const OTHER: readonly VendorVariable[] = [
  { Name: 'processID', Type: VENDOR_TYPES.number, Value: 99_999n },
  { Name: 'time', Type: VENDOR_TYPES.text, Value: 'Tue Jan  6 09:30:00 2026' },
];
const OTHER_NAMES = OTHER.map(({ Name }) => Name);

export const otherRun = (root: VendorObject): VendorObject => ({
  ...root,
  Variables: [...root.Variables.filter(({ Name }) => !OTHER_NAMES.includes(Name)), ...OTHER],
});

/** The text without blanks, of one object or of a list. */
export const vendorJson = (content: VendorObject | readonly VendorObject[]): string =>
  'Instance' in content ? objectJson(content) : `[${content.map(objectJson).join(',')}]`;

/** Walks by recursion: a `ServedTree` is never too deep for it. */
function objectJson({ Instance, Class, State, Variables, Children }: VendorObject): string {
  const state = State === undefined ? '' : `"State":${quoted(State)},`;
  const names = `"Instance":${quoted(Instance)},"Class":${quoted(Class)},${state}`;
  const variables = Variables.map(variableJson).join(',');
  return `{${names}"Variables":[${variables}],"Children":[${Children.map(objectJson).join(',')}]}`;
}

const variableJson = ({ Name, Type, Value }: VendorVariable): string =>
  `{"Name":${quoted(Name)},"Type":${quoted(Type)},"Value":${valueJson(Value)}}`;

/** NaN and infinities are null. */
export function valueJson(value: VendorValue): string {
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'number' ? fractionText(value) : String(value);
}

/** `42.0` for 42: readers that look at the text must not take it for an integer. */
function fractionText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const quoted = (text: string): string => JSON.stringify(text);

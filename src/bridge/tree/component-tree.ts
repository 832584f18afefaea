// The tree of a component, the vendor's types of variables, and the detection of restarts.
import type { ObjectState, VariableKind } from '../../model.js';
import { exactNumber } from '../poll/json-document.js';
import type { Json } from '../poll/json-document.js';

/** A value with its published type. Components have only scalars and strings. */
export type TypedValue =
  | { readonly type: 'u64' | 'i64'; readonly value: number | bigint }
  | { readonly type: 'f64'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string };

type VendorReader = (raw: Json) => TypedValue | undefined;

interface VendorType {
  readonly kind: VariableKind;
  readonly read: VendorReader;
}

const U64_END = 2n ** 64n;
const I64_END = 2n ** 63n;
const I32_START = -(2 ** 31);

/** A number. If 64 bits cannot hold an integer, the nearest double. */
const numeric: VendorReader = (value) => {
  if (typeof value === 'bigint') {
    if (value >= -I64_END && value < I64_END) return { type: 'i64', value };
    if (value >= 0n && value < U64_END) return { type: 'u64', value };
    return { type: 'f64', value: Number(value) };
  }
  if (typeof value !== 'number') return undefined;
  if (Number.isSafeInteger(value)) return { type: 'i64', value: value + 0 };
  if (Number.isInteger(value)) return numeric(BigInt(value));
  return Number.isFinite(value) ? { type: 'f64', value } : undefined;
};

/**
 * A counter. A negative value comes from an overflow: of 32 bits if the value fits into 32 bits, otherwise of 64
 * bits.
 */
const counter: VendorReader = (raw) => {
  const number = numeric(raw);
  if (number?.type !== 'i64')
    return number?.type === 'f64' && number.value < 0 ? undefined : number;
  const { value } = number;
  if (value >= 0) return { type: 'u64', value };
  const span = value >= I32_START ? 2n ** 32n : U64_END;
  return { type: 'u64', value: BigInt(value) + span };
};

/** A gauge with its limits, such as `42 (0..100)`. The bridge does not publish the limits. */
const range: VendorReader = (raw) => {
  if (typeof raw !== 'string') return numeric(raw);
  const [, number, digits] =
    /^\s*\+?((-?\d{1,20})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?)(?![\w.,])/.exec(raw) ?? [];
  if (number === undefined) return undefined;
  return numeric(number === digits ? exactNumber(number) : Number(number));
};

const flag: VendorReader = (raw) => {
  if (typeof raw === 'boolean') return { type: 'bool', value: raw };
  return raw === 0 || raw === 1 ? { type: 'bool', value: raw === 1 } : undefined;
};

const text: VendorReader = (raw) => {
  if (typeof raw === 'string') return { type: 'string', value: raw.toWellFormed() };
  const isScalar = typeof raw === 'number' || typeof raw === 'bigint' || typeof raw === 'boolean';
  return isScalar ? { type: 'string', value: String(raw) } : undefined;
};

/** A value of unknown type. Its JSON type decides how to read it. */
const anything: VendorReader = (raw) => {
  if (typeof raw === 'string') return text(raw);
  return typeof raw === 'boolean' ? flag(raw) : numeric(raw);
};

/** The type for a name that `TYPES` lacks. */
export const UNKNOWN: VendorType = { kind: 'unknown', read: anything };

/** The types of ADS and ADH 3.8 by name, without the suffix ` Config`. */
const TYPES: ReadonlyMap<string, VendorType> = new Map([
  ['Boolean', { kind: 'unknown', read: flag }],
  ['Counter', { kind: 'counter', read: counter }],
  ['Gauge', { kind: 'gauge', read: numeric }],
  ['Numeric', { kind: 'unknown', read: numeric }],
  ['Large Numeric', { kind: 'unknown', read: numeric }],
  ['Numeric Range', { kind: 'gauge', read: range }],
  ['String', { kind: 'unknown', read: text }],
]);

/** The type with this name. */
export const vendorType = (name: string): VendorType =>
  TYPES.get(name.replace(/ Config$/, '')) ?? UNKNOWN;

export interface ComponentVariable {
  readonly name: string;
  readonly kind: VariableKind;
  readonly value: TypedValue;
}

export interface ComponentObject {
  readonly id: string;
  readonly className: string;
  readonly state: ObjectState;
  /** Undefined for a root. */
  readonly parent: ComponentObject | undefined;
  readonly variables: ReadonlyMap<string, ComponentVariable>;
}

/** The kinds of irregular items in a tree, each with what the bridge does about them. */
export const ODDITIES = {
  duplicate_objects: 'objects left out because an earlier object has the same Instance',
  duplicate_variables: 'variables replaced by a later variable of the same name in the same object',
  unusable_objects:
    'objects left out with their descendants, because Instance is missing or longer than 1024 bytes',
  unusable_variables: 'variables left out because Name is missing or longer than 1024 bytes',
  unusable_values: 'variables left out because their value is missing or has the wrong type',
  unknown_types: 'variables of unknown type, published with the type of their JSON value',
} as const satisfies Readonly<Record<string, string>>;

export type OddityKind = keyof typeof ODDITIES;

export interface ComponentTree {
  /** The objects by id, parents before their children. */
  readonly objects: ReadonlyMap<string, ComponentObject>;
  readonly variableCount: number;
  readonly oddities: Readonly<Record<OddityKind, number>>;
  /** The first few names of unknown types. */
  readonly unknownTypes: readonly string[];
}

/**
 * The object's id without the prefix of its root's id; empty for a root. An id without this prefix is returned whole.
 */
export function seedPathOf(object: ComponentObject): string {
  let root = object;
  while (root.parent !== undefined) root = root.parent;
  if (root === object) return '';
  const prefix = `${root.id}.`;
  return object.id.startsWith(prefix) ? object.id.slice(prefix.length) : object.id;
}

const PROCESS_CLASS = 'ManagedProcess.';
/** After more changes in a row than this, `time` counts as a clock, until this many polls in a row find no change. */
const MAX_NEW_TIMES = 3;

interface ComponentIdentity {
  readonly processId: unknown;
  readonly time: unknown;
}

const identityOf = ({ variables }: ComponentObject): ComponentIdentity => ({
  processId: variables.get('processID')?.value.value,
  time: variables.get('time')?.value.value,
});

/** True if both values exist and differ. A missing value proves nothing. */
const differs = (before: unknown, now: unknown): boolean =>
  before !== undefined && now !== undefined && before !== now;

/**
 * Detects restarts of a component: the `processID` or `time` (normally the start time) of a root with a process class
 * has changed since the last poll. If `time` keeps changing while the process id stays the same, `time` is a clock,
 * and is ignored until it stops changing.
 */
export class RestartWatch {
  #known = new Map<string, ComponentIdentity>();
  #newTimes = 0;
  #sameTimes = 0;

  /** True if the component was restarted since the last tree. */
  sees({ objects }: ComponentTree): boolean {
    const found = new Map<string, ComponentIdentity>();
    let hasOtherId = false;
    let hasOtherTime = false;
    for (const [id, object] of objects) {
      if (object.parent !== undefined || !object.className.startsWith(PROCESS_CLASS)) continue;
      const now = identityOf(object);
      const before = this.#known.get(id);
      found.set(id, {
        processId: now.processId ?? before?.processId,
        time: now.time ?? before?.time,
      });
      if (differs(before?.processId, now.processId)) hasOtherId = true;
      else if (differs(before?.time, now.time)) hasOtherTime = true;
    }
    this.#known = found;
    if (hasOtherId) return true;
    this.#count(hasOtherTime);
    return hasOtherTime && !this.isTimeAClock;
  }

  #count(hasOtherTime: boolean): void {
    this.#sameTimes = hasOtherTime ? 0 : this.#sameTimes + 1;
    if (hasOtherTime) this.#newTimes++;
    // Two reads of a clock may be equal if they are close together, but several reads in a row are not.
    else if (!this.isTimeAClock || this.#sameTimes >= MAX_NEW_TIMES) this.#newTimes = 0;
  }

  /** True once `time` was found to be a clock. */
  get isTimeAClock(): boolean {
    return this.#newTimes > MAX_NEW_TIMES;
  }
}

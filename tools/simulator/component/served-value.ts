// Variables of a served tree: they keep current values, and reject new ones once removed.
import type { SlotRef, ValueType, VariableKind } from '#app/model.js';
import { isFramed, scalarType } from '#app/published.js';
import type { FramedType } from '#app/published.js';
import type { ValueHandles } from '../object-publisher.js';

/** Integers are bigints, so that all 64 bits are exact. */
export type ServedValue = bigint | number | boolean | string;

/** A variable as it is now. */
export interface ServedVariable {
  readonly name: string;
  readonly type: ValueType;
  readonly kind: VariableKind;
  /** Undefined: it exists and has no value yet. */
  readonly value: ServedValue | undefined;
}

/** The target of a handle's stores. */
export interface KeptVariable extends ServedVariable {
  readonly ref: SlotRef;
  /** The most bytes of a text. */
  readonly room: number;
  value: ServedValue | undefined;
  isGone: boolean;
}

type Scalar = number | bigint | boolean;

const integer = (value: Scalar): bigint =>
  BigInt(typeof value === 'number' ? Math.trunc(value) : value);

/** Integers wrap at 64 bits. */
const STORED = {
  u64: (value: Scalar) => BigInt.asUintN(64, integer(value)),
  i64: (value: Scalar) => BigInt.asIntN(64, integer(value)),
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

export function handleOf<T extends ValueType>(kept: KeptVariable, type: T): ValueHandles[T] {
  const handle = isFramed(type) ? HANDLES[type](kept) : scalar(kept, STORED[scalarType(type).bits]);
  return handle as ValueHandles[T];
}

function scalar(
  kept: KeptVariable,
  kindOf: (value: Scalar) => Exclude<ServedValue, string>,
): ValueHandles['u64'] {
  const set = (value: Scalar) => store(kept, kindOf(value));
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

// Maps the type names of a component to published types.
import type { VariableKind } from '../../model.js';
import { exactNumber } from '../poll/json-document.js';
import type { Json } from '../poll/json-document.js';

/** A published value: a component has only scalars and texts. */
export type TypedValue =
  | { readonly type: 'u64' | 'i64'; readonly value: number | bigint }
  | { readonly type: 'f64'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string };

type Reader = (raw: Json) => TypedValue | undefined;

export interface VendorType {
  readonly kind: VariableKind;
  readonly read: Reader;
  readonly isKnown: boolean;
}

const U64_END = 2n ** 64n;
const I64_END = 2n ** 63n;
const I32_START = -(2 ** 31);

/** A number; the nearest double if 64 bits cannot hold it. */
const numeric: Reader = (value) => {
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

/** A total. A negative one has overflowed 32 bits, or 64 if it needs more than 32. */
const counter: Reader = (raw) => {
  const number = numeric(raw);
  if (number?.type !== 'i64')
    return number?.type === 'f64' && number.value < 0 ? undefined : number;
  const { value } = number;
  if (value >= 0) return { type: 'u64', value };
  const span = value >= I32_START ? 2n ** 32n : U64_END;
  return { type: 'u64', value: BigInt(value) + span };
};

/** A level within limits, as in `42 (0..100)`; the limits are not published. */
const range: Reader = (raw) => {
  if (typeof raw !== 'string') return numeric(raw);
  const [, number, digits] =
    /^\s*\+?((-?\d{1,20})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?)(?![\w.,])/.exec(raw) ?? [];
  if (number === undefined) return undefined;
  return numeric(number === digits ? exactNumber(number) : Number(number));
};

const flag: Reader = (raw) => {
  if (typeof raw === 'boolean') return { type: 'bool', value: raw };
  return raw === 0 || raw === 1 ? { type: 'bool', value: raw === 1 } : undefined;
};

const text: Reader = (raw) => {
  if (typeof raw === 'string') return { type: 'string', value: raw.toWellFormed() };
  const isScalar = typeof raw === 'number' || typeof raw === 'bigint' || typeof raw === 'boolean';
  return isScalar ? { type: 'string', value: String(raw) } : undefined;
};

/** By the type of the JSON value. */
const anything: Reader = (raw) => {
  if (typeof raw === 'string') return text(raw);
  return typeof raw === 'boolean' ? flag(raw) : numeric(raw);
};

const known = (kind: VariableKind, read: Reader): VendorType => ({ kind, read, isKnown: true });
const UNKNOWN: VendorType = { kind: 'unknown', read: anything, isKnown: false };

/** Type names without the suffix ` Config`, as ADS and ADH 3.8 show them. */
const TYPES: ReadonlyMap<string, VendorType> = new Map([
  ['Boolean', known('unknown', flag)],
  ['Counter', known('counter', counter)],
  ['Gauge', known('gauge', numeric)],
  ['Numeric', known('unknown', numeric)],
  ['Large Numeric', known('unknown', numeric)],
  ['Numeric Range', known('gauge', range)],
  ['String', known('unknown', text)],
]);

/** The type of that name; for an unknown name the JSON value decides. */
export const vendorType = (name: string): VendorType =>
  TYPES.get(name.replace(/ Config$/, '')) ?? UNKNOWN;

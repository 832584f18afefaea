// The value types, kinds and states that publishers use. This file imports nothing, so that the type declarations of
// the npm package need no other package.

/** The properties of every value type. */
interface ValueTypeRow {
  /** The number of the type in a record of a segment (segment-format.md). */
  readonly number: number;
  /** The metric type of a variable whose publisher states no kind. */
  readonly metricType: 'unknown' | 'gauge' | 'info' | 'histogram' | 'summary';
}

/** A type whose value is one number in the slot. */
interface ScalarTypeRow extends ValueTypeRow {
  /** The encoding of the 8 bytes of the slot. */
  readonly bits: 'u64' | 'i64' | 'f64' | 'bool';
  /** The least and the greatest integer; absent for floating-point numbers. */
  readonly range?: readonly [bigint, bigint];
}

/** A type whose value is a frame of several words. The slot then counts the updates of the value. */
interface FramedTypeRow extends ValueTypeRow {
  readonly frame: {
    /** The number of 8-byte words of a frame without entries, including its first and last word. */
    readonly words: number;
    /** The size of one entry in bytes. An entry is a byte of a string, a bound, or a quantile. */
    readonly entryBytes: number;
  };
  /** The meaning of the type's schema, if it has one. */
  readonly schema?: 'bounds' | 'quantiles';
}

/**
 * The value types. In the exporter and the publisher, a scalar type needs only a row here. A framed type also needs a
 * handle that writes it (`FRAMED_VALUES`), a decoder (frame-reader.ts), and a catalogue row kind that shows it. For
 * the vendor's JSON, the simulator has its own list of the types.
 */
export const VALUE_TYPES = {
  u64: { number: 1, metricType: 'unknown', bits: 'u64', range: [0n, 2n ** 64n - 1n] },
  i64: { number: 2, metricType: 'unknown', bits: 'i64', range: [-(2n ** 63n), 2n ** 63n - 1n] },
  f64: { number: 3, metricType: 'unknown', bits: 'f64' },
  bool: { number: 4, metricType: 'gauge', bits: 'bool', range: [0n, 1n] },
  string: { number: 5, metricType: 'info', frame: { words: 3, entryBytes: 1 } },
  histogram: {
    ...{ number: 6, metricType: 'histogram', frame: { words: 4, entryBytes: 8 } },
    schema: 'bounds',
  },
  summary: {
    ...{ number: 7, metricType: 'summary', frame: { words: 4, entryBytes: 8 } },
    schema: 'quantiles',
  },
} as const satisfies Readonly<Record<string, ScalarTypeRow | FramedTypeRow>>;

export type ValueType = keyof typeof VALUE_TYPES;
/** Types whose value is a frame. */
export type FramedType = {
  [T in ValueType]: (typeof VALUE_TYPES)[T] extends FramedTypeRow ? T : never;
}[ValueType];
/** Types whose value is one number. */
export type ScalarType = Exclude<ValueType, FramedType>;

const TYPES = Object.keys(VALUE_TYPES) as readonly ValueType[];
const FRAMED: ReadonlySet<ValueType> = new Set(
  TYPES.filter((type) => 'frame' in VALUE_TYPES[type]),
);

/** True if the values of the type are frames; the slot then counts the updates. */
export const isFramed = (type: ValueType): type is FramedType => FRAMED.has(type);

export const SCALAR_TYPES: readonly ScalarType[] = TYPES.filter(
  (type): type is ScalarType => !isFramed(type),
);

/** The row of a type that is one number. */
export const scalarType = (type: ScalarType): ScalarTypeRow => VALUE_TYPES[type];
/** The row of a framed type. */
export const framedType = (type: FramedType): FramedTypeRow => VALUE_TYPES[type];
/** The meaning of a type's schema; undefined if it has none. */
export const schemaOf = (type: ValueType): FramedTypeRow['schema'] =>
  isFramed(type) ? framedType(type).schema : undefined;

/** The meaning of a variable, in Prometheus terms. */
export type VariableKind = 'unknown' | 'counter' | 'gauge';

/** Management states of an object, in the order of their numbers in a segment (0 to 5). */
export const OBJECT_STATES = [
  'init',
  'normal',
  'manual_recovery',
  'auto_recovery',
  'dead',
  'invalid',
] as const;
export type ObjectState = (typeof OBJECT_STATES)[number];

/** The slot of a value, which is valid while the slot's word carries `incarnation`. */
export interface SlotRef {
  readonly slot: number;
  readonly incarnation: number;
}

export interface RootIdentity {
  readonly host: string;
  readonly instance: string;
  readonly application: string;
}

/** The identity of an object that is not a root, or whose format states no identity. */
export const NO_IDENTITY: RootIdentity = { host: '', instance: '', application: '' };

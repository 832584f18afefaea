// What publishers state of objects and variables. It imports nothing: the types of the package need no other package.

/** Value types that a publisher can state. */
export type ValueType = 'u64' | 'i64' | 'f64' | 'bool' | 'string' | 'histogram' | 'summary';

/** What a publisher says of a variable's meaning, in Prometheus terms. */
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

/** Where a value lives: a slot of 8 bytes, valid while the slot's word carries `incarnation`. */
export interface SlotRef {
  readonly slot: number;
  readonly incarnation: number;
}

export interface RootIdentity {
  readonly host: string;
  readonly instance: string;
  readonly application: string;
}

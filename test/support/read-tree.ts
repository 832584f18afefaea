// The content of a source as plain values in order of publication, for comparisons.
import { OBJECT_STATES } from '#app/model.js';
import type { Frame, ManagedObject, SlotRef, Source, Variable } from '#app/model.js';

export type PlainValue = bigint | number | string | object | undefined;

export interface PlainVariable {
  readonly name: string;
  readonly type: string;
  readonly kind: string;
  readonly unit: string;
  readonly help: string;
  readonly schema: readonly number[];
  /** Undefined while the variable is not synced. */
  readonly value: PlainValue;
}

export interface PlainObject {
  readonly name: string;
  readonly className: string;
  readonly identity: object;
  readonly state: string;
  readonly isSynced: boolean;
  readonly asOf: bigint | undefined;
  readonly variables: readonly PlainVariable[];
  readonly children: readonly PlainObject[];
}

/** Reads frames, then slots, then words, as the format requires. */
export function readTree(source: Source, slotCount: number): PlainObject[] {
  const slots = Buffer.alloc(slotCount * 8);
  const words = Buffer.alloc(slotCount * 4);
  const frames = new Map<number, Frame | undefined>();
  const readFrames = ({ variables, children }: ManagedObject) => {
    for (const variable of variables)
      if (isFramed(variable)) frames.set(variable.id, source.readFrame(variable));
    for (const child of children) readFrames(child);
  };
  for (const root of source.roots) readFrames(root);
  source.readSlots(0, slotCount, slots);
  source.readWords(0, slotCount, words);

  const word = ({ slot }: SlotRef) => words.readUInt32LE(slot * 4);
  const isSynced = (ref: SlotRef) => word(ref) === ((ref.incarnation << 1) | 1) >>> 0;
  const isOwn = (ref: SlotRef) => word(ref) >>> 1 === ref.incarnation;
  const u64 = ({ slot }: SlotRef) => slots.readBigUInt64LE(slot * 8);
  const valueOf = (variable: Variable): PlainValue => {
    if (!isSynced(variable)) return undefined;
    if (variable.type === 'i64') return slots.readBigInt64LE(variable.slot * 8);
    if (variable.type === 'f64') return slots.readDoubleLE(variable.slot * 8);
    if (!isFramed(variable)) return u64(variable);
    return frames.get(variable.id) ?? 'no whole frame';
  };
  const plain = (object: ManagedObject): PlainObject => ({
    name: object.name,
    className: object.className,
    identity: object.identity,
    state: (isOwn(object) ? OBJECT_STATES[Number(u64(object))] : undefined) ?? 'none',
    isSynced: isSynced(object),
    asOf: object.asOf !== undefined && isSynced(object.asOf) ? u64(object.asOf) : undefined,
    variables: [...object.variables].map((variable) => {
      const { name, type, kind, unit, help, schema } = variable;
      return { name, type, kind, unit, help, schema, value: valueOf(variable) };
    }),
    children: [...object.children].map(plain),
  });
  return [...source.roots].map(plain);
}

const isFramed = ({ type }: Variable): boolean =>
  type === 'string' || type === 'histogram' || type === 'summary';

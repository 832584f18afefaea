// Parses one directory record: checks it, and resolves what it adds or removes.
import { crc32 } from 'node:zlib';
import type { SlotRef } from '../../model.js';
import type { DirectoryReader } from './directory-reader.js';
import {
  LIMITS,
  NO_SLOT,
  RECORD,
  RECORD_KIND,
  RECORD_SIZE,
  VALUE_TYPES,
  VARIABLE_KINDS,
  frameWords,
} from './layout.js';
import { corrupt } from './segment-header.js';
import type { SegmentHeader } from './segment-header.js';
import { NO_IDENTITY } from './tree.js';
import type { VariableFacts } from './object-variables.js';
import type { ObjectFacts } from './tree.js';

export type DirectoryRecord =
  | { readonly kind: 'object'; readonly parentId: number; readonly facts: ObjectFacts }
  | {
      readonly kind: 'variable';
      readonly objectId: number;
      readonly facts: VariableFacts;
    }
  | { readonly kind: 'tombstone'; readonly id: number };

/** Parses the record at `at`, the `index`th of its directory. @throws Fault SEGMENT_CORRUPT */
export function parseRecord(
  bytes: Buffer,
  at: number,
  index: number,
  header: SegmentHeader,
  strings: DirectoryReader,
): DirectoryRecord {
  const fail = (what: string) => corrupt(`record ${index}: ${what}`);
  const stated = bytes.readUInt32LE(at + RECORD.crc);
  const actual = crc32(bytes.subarray(at + RECORD.index, at + RECORD_SIZE));
  if (stated !== actual)
    throw fail(`its CRC is ${stated.toString(16)}, its bytes give ${actual.toString(16)}`);
  const own = bytes.readUInt32LE(at + RECORD.index);
  if (own !== index) throw fail(`it says that it is record ${own}`);
  const u32 = (field: number) => bytes.readUInt32LE(at + field);
  const id64 = (field: number) => {
    const value = bytes.readBigUInt64LE(at + field);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw fail(`its id ${value} is beyond 2^53`);
    return Number(value);
  };
  const slotRef = (slot: number, incarnation: number): SlotRef => {
    if (slot >= header.slotCapacity)
      throw fail(`its slot ${slot} is beyond ${header.slotCapacity}`);
    return { slot, incarnation };
  };
  const text = (field: number, most: number, keep: boolean) => strings.text(u32(field), most, keep);

  const recordKind = bytes[at + RECORD.recordKind];
  if (recordKind === RECORD_KIND.tombstone) return { kind: 'tombstone', id: id64(RECORD.owner) };
  const id = id64(RECORD.id);
  const { slot, incarnation } = slotRef(u32(RECORD.slot), u32(RECORD.incarnation));
  if (recordKind === RECORD_KIND.object) {
    const parentId = id64(RECORD.owner);
    const asOf = u32(RECORD.extra1);
    const facts: ObjectFacts = {
      id,
      slot,
      incarnation,
      name: text(RECORD.name, LIMITS.nameBytes, false),
      className: text(RECORD.text1, LIMITS.nameBytes, true),
      identity:
        parentId !== 0
          ? NO_IDENTITY
          : {
              host: text(RECORD.text2, LIMITS.nameBytes, false),
              instance: text(RECORD.text3, LIMITS.nameBytes, false),
              application: text(RECORD.text4, LIMITS.nameBytes, false),
            },
      asOf: parentId !== 0 || asOf === NO_SLOT ? undefined : slotRef(asOf, u32(RECORD.extra2)),
    };
    return { kind: 'object', parentId, facts };
  }
  if (recordKind !== RECORD_KIND.variable) throw fail(`its kind is ${recordKind ?? 'missing'}`);

  const typeNumber = bytes[at + RECORD.type] ?? 0;
  const type = VALUE_TYPES[typeNumber];
  if (type === undefined) throw fail(`its value type is ${typeNumber}, 1 to 7 are known`);
  const kindNumber = bytes[at + RECORD.kind] ?? 0;
  const kind = VARIABLE_KINDS[kindNumber];
  if (kind === undefined) throw fail(`its variable kind is ${kindNumber}, 0 to 2 are known`);
  const declaration = strings.declarations.of({
    name: u32(RECORD.name),
    type,
    kind,
    unit: u32(RECORD.text1),
    help: u32(RECORD.text2),
    schema: u32(RECORD.text3),
  });
  if (declaration === undefined)
    throw fail('its schema is not a list of ascending, finite numbers');
  const { schema } = declaration;
  if (type === 'summary' && schema.some((quantile) => quantile < 0 || quantile > 1))
    throw fail('its quantiles are not from 0 to 1');
  const isFramed = type === 'string' || type === 'histogram' || type === 'summary';
  const frameOffset = isFramed ? u32(RECORD.text4) : 0;
  const frameLength = isFramed ? u32(RECORD.extra1) : 0;
  if (isFramed) {
    const least = frameWords(type, type === 'string' ? 0 : schema.length);
    const most = frameWords(type, type === 'string' ? LIMITS.textBytes : schema.length);
    if (frameLength < least || frameLength > most)
      throw fail(`its frame has ${frameLength} units, ${least} to ${most} are allowed`);
    if ((frameOffset + frameLength) * 8 > header.frameCapacity)
      throw fail(`its frame at ${frameOffset * 8} ends beyond ${header.frameCapacity}`);
  }
  const frame = isFramed ? { frameOffset, frameWords: frameLength } : undefined;
  return {
    kind: 'variable',
    objectId: id64(RECORD.owner),
    facts: { id, slot, incarnation, declaration, frame },
  };
}

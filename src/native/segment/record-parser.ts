// Parses and validates directory records.
import { crc32 } from 'node:zlib';
import type { Declaration, RootIdentity, SlotRef } from '../../model.js';
import { NO_IDENTITY, VALUE_TYPES, isFramed, schemaOf } from '../../published.js';
import type { FramedType, ValueType } from '../../published.js';
import type { DirectoryReader } from './directory-reader.js';
import { LIMITS, NO_SLOT, RECORD, RECORD_KIND, VARIABLE_KINDS, frameWords } from './layout.js';
import { corrupt, crcText } from './segment-header.js';
import type { SegmentHeader } from './segment-header.js';
import type { FrameLocation, ObjectFields, VariableFields } from './tree.js';

interface ObjectRecord extends ObjectFields {
  readonly kind: 'object';
  /** 0 for a root. */
  readonly parentId: number;
}

interface VariableRecord extends VariableFields {
  readonly kind: 'variable';
  readonly objectId: number;
}

export type DirectoryRecord =
  ObjectRecord | VariableRecord | { readonly kind: 'tombstone'; readonly id: number };

/** Value types by their number in a record; 0 is unused. */
const TYPE_OF_NUMBER: (ValueType | undefined)[] = [undefined];
for (const [type, { number }] of Object.entries(VALUE_TYPES))
  TYPE_OF_NUMBER[number] = type as ValueType;

/** An id whose second word is this or higher exceeds JavaScript's safe integers. */
const MIN_UNSAFE_WORD = 2 ** 21;

export class RecordParser {
  readonly #header: SegmentHeader;
  readonly #strings: DirectoryReader;
  #record: Buffer = Buffer.alloc(0);
  /** The position of the record in its directory. */
  #index = 0;

  constructor(header: SegmentHeader, strings: DirectoryReader) {
    this.#header = header;
    this.#strings = strings;
  }

  /**
   * @param index the position of the record in its directory
   * @throws Fault SEGMENT_CORRUPT
   */
  parse(record: Buffer, index: number): DirectoryRecord {
    this.#record = record;
    this.#index = index;
    const stated = this.#u32(RECORD.crc);
    const actual = crc32(record.subarray(RECORD.index));
    if (stated !== actual)
      throw this.#fail(`its CRC is ${crcText(stated)}, but its bytes give ${crcText(actual)}`);
    const own = this.#u32(RECORD.index);
    if (own !== index) throw this.#fail(`it states the record number ${own}, allowed: ${index}`);
    const kind = record[RECORD.recordKind];
    if (kind === RECORD_KIND.variable) return this.#variable();
    if (kind === RECORD_KIND.object) return this.#object();
    if (kind === RECORD_KIND.tombstone) return { kind: 'tombstone', id: this.#id(RECORD.owner) };
    throw this.#fail(`its kind is ${kind}, allowed: 1 to ${Object.keys(RECORD_KIND).length}`);
  }

  #object(): ObjectRecord {
    const parentId = this.#id(RECORD.owner);
    const isRoot = parentId === 0;
    return {
      kind: 'object',
      parentId,
      id: this.#id(RECORD.id),
      slot: this.#slot(RECORD.slot),
      incarnation: this.#u32(RECORD.incarnation),
      name: this.#text(RECORD.name),
      className: this.#text(RECORD.text1),
      identity: isRoot ? this.#identity() : NO_IDENTITY,
      asOf: isRoot ? this.#asOf() : undefined,
    };
  }

  #identity(): RootIdentity {
    return {
      host: this.#text(RECORD.text2),
      instance: this.#text(RECORD.text3),
      application: this.#text(RECORD.text4),
    };
  }

  #asOf(): SlotRef | undefined {
    if (this.#u32(RECORD.extra1) === NO_SLOT) return undefined;
    return { slot: this.#slot(RECORD.extra1), incarnation: this.#u32(RECORD.extra2) };
  }

  #variable(): VariableRecord {
    const id = this.#id(RECORD.id);
    const slot = this.#slot(RECORD.slot);
    const declaration = this.#declaration();
    const { type, schema } = declaration;
    return {
      kind: 'variable',
      id,
      slot,
      incarnation: this.#u32(RECORD.incarnation),
      objectId: this.#id(RECORD.owner),
      declaration,
      frame: isFramed(type) ? this.#frame(type, schema.length) : undefined,
    };
  }

  #declaration(): Declaration {
    const typeNumber = this.#record[RECORD.type] ?? 0;
    const type = TYPE_OF_NUMBER[typeNumber];
    if (type === undefined)
      throw this.#fail(
        `its value type is ${typeNumber}, allowed: 1 to ${TYPE_OF_NUMBER.length - 1}`,
      );
    const kindNumber = this.#record[RECORD.kind] ?? 0;
    const kind = VARIABLE_KINDS[kindNumber];
    if (kind === undefined) throw this.#fail(`its variable kind is ${kindNumber}, allowed: 0 to 2`);
    const declaration = this.#strings.declaration({
      name: this.#u32(RECORD.name),
      type,
      kind,
      unit: this.#u32(RECORD.text1),
      help: this.#u32(RECORD.text2),
      schema: this.#u32(RECORD.text3),
    });
    if (declaration === undefined)
      throw this.#fail('its schema is not a list of ascending, finite numbers');
    if (
      schemaOf(type) === 'quantiles' &&
      declaration.schema.some((quantile) => quantile < 0 || quantile > 1)
    )
      throw this.#fail('its quantiles are not between 0 and 1');
    return declaration;
  }

  #frame(type: FramedType, entries: number): FrameLocation {
    const words = this.#u32(RECORD.extra1);
    const hasSchema = schemaOf(type) !== undefined;
    const least = frameWords(type, hasSchema ? entries : 0);
    const most = frameWords(type, hasSchema ? entries : LIMITS.textBytes);
    if (words < least || words > most)
      throw this.#fail(`its frame has ${words} units, allowed: ${least} to ${most}`);
    const offset = this.#u32(RECORD.text4);
    if ((offset + words) * 8 > this.#header.frameCapacity)
      throw this.#fail(
        `its frame at ${offset * 8} ends beyond the frame region of ${this.#header.frameCapacity} bytes`,
      );
    return { offset, words };
  }

  #u32(field: number): number {
    return this.#record.readUInt32LE(field);
  }

  /** Reads an id without a bigint, which V8 would allocate. */
  #id(field: number): number {
    const [low, high] = [this.#u32(field), this.#u32(field + 4)];
    if (high >= MIN_UNSAFE_WORD)
      throw this.#fail(`its id ${(BigInt(high) << 32n) | BigInt(low)} is beyond 2^53`);
    return low + high * 2 ** 32;
  }

  #slot(field: number): number {
    const slot = this.#u32(field);
    if (slot >= this.#header.slotCapacity)
      throw this.#fail(`its slot is ${slot}, allowed: less than ${this.#header.slotCapacity}`);
    return slot;
  }

  #text(field: number): string {
    return this.#strings.text(this.#u32(field), LIMITS.nameBytes);
  }

  #fail(what: string): Error {
    return corrupt(`record ${this.#index}: ${what}`);
  }
}

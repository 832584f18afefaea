// Parses and validates directory records.
import { crc32 } from 'node:zlib';
import type { Declaration, RootIdentity, SlotRef } from '../../model.js';
import { NO_IDENTITY, VALUE_TYPES, isFramed, schemaOf } from '../../published.js';
import type { FramedType, ValueType } from '../../published.js';
import type { DeclarationFields, DirectoryReader } from './directory-reader.js';
import {
  LIMITS,
  NO_SLOT,
  RECORD,
  RECORD_KIND,
  RECORD_SIZE,
  VARIABLE_FLAG,
  VARIABLE_KINDS,
  frameWords,
} from './layout.js';
import type { VariableFields } from './object-variables.js';
import { corrupt, crcText } from './segment-header.js';
import type { SegmentHeader } from './segment-header.js';
import type { ResolvedObject } from './tree.js';

interface ObjectRecord extends ResolvedObject {
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

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Returns the word offset of a field. For the fields of a variable, the results are stored in constants: a lookup in
 * `RECORD` would take as long as reading the field, and there may be millions of records.
 */
const wordOf = (field: number): number => field / 4;
const CRC = wordOf(RECORD.crc);
const INDEX = wordOf(RECORD.index);
const KINDS = wordOf(RECORD.recordKind);
const SLOT = wordOf(RECORD.slot);
const ID = wordOf(RECORD.id);
const OWNER = wordOf(RECORD.owner);
const INCARNATION = wordOf(RECORD.incarnation);
const NAME = wordOf(RECORD.name);
const UNIT = wordOf(RECORD.text1);
const HELP = wordOf(RECORD.text2);
const SCHEMA = wordOf(RECORD.text3);

/** An id whose second word is this or higher exceeds JavaScript's safe integers. */
const MIN_UNSAFE_WORD = 2 ** 21;
const BYTE = 0xff;

const NO_WORDS = new Uint32Array(0);
const NO_DECLARATION: Declaration = {
  name: '',
  type: 'u64',
  kind: 'unknown',
  unit: '',
  help: '',
  schema: [],
};

/**
 * Parses records. For all variables, `parse` returns the same JavaScript object, since a segment may have millions of
 * them.
 */
export class RecordParser {
  readonly #header: SegmentHeader;
  readonly #strings: DirectoryReader;
  readonly #fields: Mutable<DeclarationFields> = {
    ...{ name: 0, unit: 0, help: 0, schema: 0, isSeries: false },
    ...{ type: 'u64', kind: 'unknown' },
  };
  readonly #variableRecord: Mutable<VariableRecord> = {
    kind: 'variable',
    objectId: 0,
    id: 0,
    slot: 0,
    incarnation: 0,
    declaration: NO_DECLARATION,
    frameOffset: 0,
    frameWords: 0,
  };
  #words: Uint32Array = NO_WORDS;
  #bytes: Uint8Array = new Uint8Array(NO_WORDS.buffer);
  /** First word and index of the current record. */
  #at = 0;
  #index = 0;

  constructor(header: SegmentHeader, strings: DirectoryReader) {
    this.#header = header;
    this.#strings = strings;
  }

  /**
   * Parses the record at the word `at`. The record of a variable is valid until the next one is parsed.
   * @param index the position of the record in its directory
   * @throws Fault SEGMENT_CORRUPT
   */
  parse(words: Uint32Array, at: number, index: number): DirectoryRecord {
    if (this.#words !== words) this.#bytes = new Uint8Array(words.buffer, words.byteOffset);
    this.#words = words;
    this.#at = at;
    this.#index = index;
    const stated = words[at + CRC] ?? 0;
    const actual = crc32(this.#bytes.subarray(at * 4 + RECORD.index, at * 4 + RECORD_SIZE));
    if (stated !== actual)
      throw this.#fail(`its CRC is ${crcText(stated)}, but its bytes give ${crcText(actual)}`);
    const own = words[at + INDEX] ?? 0;
    if (own !== index) throw this.#fail(`it states the record number ${own}, allowed: ${index}`);
    const kind = (words[at + KINDS] ?? 0) & BYTE;
    if (kind === RECORD_KIND.variable) return this.#variable(words, at);
    if (kind === RECORD_KIND.object) return this.#object();
    if (kind === RECORD_KIND.tombstone)
      return { kind: 'tombstone', id: this.#id(words, at + OWNER) };
    throw this.#fail(`its kind is ${kind}, allowed: 1 to ${Object.keys(RECORD_KIND).length}`);
  }

  /** Forgets the last words, so that their memory can be freed: up to 64 KiB for each segment. */
  forget(): void {
    this.#words = NO_WORDS;
    this.#bytes = new Uint8Array(NO_WORDS.buffer);
  }

  #object(): ObjectRecord {
    const [words, at] = [this.#words, this.#at];
    const parentId = this.#id(words, at + OWNER);
    const isRoot = parentId === 0;
    return {
      kind: 'object',
      parentId,
      id: this.#id(words, at + ID),
      slot: this.#slot(words, at + SLOT),
      incarnation: this.#u32(RECORD.incarnation),
      name: this.#text(RECORD.name, false),
      className: this.#text(RECORD.text1, true),
      identity: isRoot ? this.#identity() : NO_IDENTITY,
      asOf: isRoot ? this.#asOf() : undefined,
    };
  }

  #identity(): RootIdentity {
    return {
      host: this.#text(RECORD.text2, false),
      instance: this.#text(RECORD.text3, false),
      application: this.#text(RECORD.text4, false),
    };
  }

  #asOf(): SlotRef | undefined {
    if (this.#u32(RECORD.extra1) === NO_SLOT) return undefined;
    const slot = this.#slot(this.#words, this.#at + wordOf(RECORD.extra1));
    return { slot, incarnation: this.#u32(RECORD.extra2) };
  }

  #variable(words: Uint32Array, at: number): VariableRecord {
    const record = this.#variableRecord;
    record.id = this.#id(words, at + ID);
    record.slot = this.#slot(words, at + SLOT);
    const declaration = this.#declaration(words, at);
    const { type } = declaration;
    record.objectId = this.#id(words, at + OWNER);
    record.incarnation = words[at + INCARNATION] ?? 0;
    record.declaration = declaration;
    record.frameOffset = isFramed(type) ? this.#u32(RECORD.text4) : 0;
    record.frameWords = isFramed(type) ? this.#frameWords(type, declaration.schema.length) : 0;
    return record;
  }

  #declaration(words: Uint32Array, at: number): Declaration {
    const word = words[at + KINDS] ?? 0;
    const typeNumber = (word >>> 8) & BYTE;
    const type = TYPE_OF_NUMBER[typeNumber];
    if (type === undefined)
      throw this.#fail(
        `its value type is ${typeNumber}, allowed: 1 to ${TYPE_OF_NUMBER.length - 1}`,
      );
    const kindNumber = (word >>> 16) & BYTE;
    const kind = VARIABLE_KINDS[kindNumber];
    if (kind === undefined) throw this.#fail(`its variable kind is ${kindNumber}, allowed: 0 to 2`);
    const fields = this.#fields;
    fields.name = words[at + NAME] ?? 0;
    fields.type = type;
    fields.kind = kind;
    fields.unit = words[at + UNIT] ?? 0;
    fields.help = words[at + HELP] ?? 0;
    fields.schema = words[at + SCHEMA] ?? 0;
    fields.isSeries = this.#header.hasSeries && ((word >>> 24) & VARIABLE_FLAG.series) !== 0;
    const declaration = this.#strings.declaration(fields);
    if (declaration === undefined)
      throw this.#fail('its schema is not a list of ascending, finite numbers');
    if (
      schemaOf(type) === 'quantiles' &&
      declaration.schema.some((quantile) => quantile < 0 || quantile > 1)
    )
      throw this.#fail('its quantiles are not between 0 and 1');
    return declaration;
  }

  /** Validates offset and length of a frame; returns its length in words. */
  #frameWords(type: FramedType, entries: number): number {
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
    return words;
  }

  #u32(field: number): number {
    return this.#words[this.#at + field / 4] ?? 0;
  }

  /** Reads an id without a bigint, which V8 would allocate. */
  #id(words: Uint32Array, at: number): number {
    const low = words[at] ?? 0;
    const high = words[at + 1] ?? 0;
    if (high >= MIN_UNSAFE_WORD)
      throw this.#fail(`its id ${(BigInt(high) << 32n) | BigInt(low)} is beyond 2^53`);
    return low + high * 2 ** 32;
  }

  #slot(words: Uint32Array, at: number): number {
    const slot = words[at] ?? 0;
    if (slot >= this.#header.slotCapacity)
      throw this.#fail(`its slot is ${slot}, allowed: less than ${this.#header.slotCapacity}`);
    return slot;
  }

  #text(field: number, keep: boolean): string {
    return this.#strings.text(this.#u32(field), LIMITS.nameBytes, keep);
  }

  #fail(what: string): Error {
    return corrupt(`record ${this.#index}: ${what}`);
  }
}

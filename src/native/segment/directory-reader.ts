// Copies new directory records with their strings, and detects when the publisher switches directories.
import { LargeMap } from '../../collections/large-map.js';
import { Fault } from '../../errors.js';
import type { Declaration } from '../../model.js';
import type { SegmentFile } from '../os/shared-memory.js';
import { LIMITS, RECORD_SIZE } from './layout.js';
import { corrupt, readStringBytes, readMutableFields } from './segment-header.js';
import type { MutableFields, SegmentHeader } from './segment-header.js';

/** The fields of a record that declare a variable. Each string is given by its offset. */
interface DeclarationFields extends Pick<Declaration, 'type' | 'kind'> {
  readonly name: number;
  readonly unit: number;
  readonly help: number;
  readonly schema: number;
}

interface CachedDeclaration extends DeclarationFields {
  readonly declaration: Declaration;
}

/** Maximum number of cached declarations per name. Records share cached declarations only. */
const MAX_PER_NAME = 8;

/** Maximum number of records in a batch: a few milliseconds of work. */
export const MAX_BATCH_RECORDS = 1024;
/** Maximum number of string bytes that are copied with a batch. */
const MAX_BATCH_STRING_BYTES = 1 << 20;
/** Maximum number of switches before a directory has been copied completely. */
const MAX_SWITCHES = 5;
/** Maximum total size in bytes of the texts and schemas that are decoded for one directory. */
const MAX_TEXT_BYTES = 2 ** 28;

/** Consecutive records. Their strings have been copied. */
export interface RecordBatch {
  /** Empty while strings are still being copied. */
  readonly records: Buffer;
  /** The position of the first record in its directory. */
  readonly firstIndex: number;
  readonly epoch: number;
  /** True if the batch reaches the end of the directory. */
  readonly isLast: boolean;
}

export class DirectoryReader {
  readonly #file: SegmentFile;
  readonly #header: SegmentHeader;
  #epoch = -1;
  /** The number of copied records. */
  #next = 0;
  /** Whether the directory was copied up to its end. */
  #isComplete = false;
  /** The number of directories that were begun since one was copied completely. */
  #begun = 0;
  #strings = Buffer.alloc(0);
  #stringBytes = 0;
  readonly #texts = new LargeMap<string>();
  readonly #schemas = new LargeMap<readonly number[] | undefined>();
  #textBytes = 0;
  /** Declarations by the offset of their name. */
  readonly #declarations = new LargeMap<CachedDeclaration[]>();

  constructor(file: SegmentFile, header: SegmentHeader) {
    this.#file = file;
    this.#header = header;
  }

  /**
   * Copies the next records; undefined if there are none.
   * @param fields the mutable fields, if the caller has just read them
   * @throws Fault SEGMENT_UNSTABLE if the publisher switches directories faster than they can be copied
   */
  next(fields?: MutableFields): RecordBatch | undefined {
    for (let known = fields; ; known = undefined) {
      const { epoch, records } = known ?? readMutableFields(this.#file, this.#header);
      if (epoch !== this.#epoch) this.#begin(epoch);
      const count = Math.min(records - this.#next, MAX_BATCH_RECORDS);
      if (count < 0) throw corrupt(`the directory shrank to ${records} records`);
      if (count === 0 && this.#isComplete) return undefined;
      // The publisher stores the strings of a record before it counts the record. The number of string bytes is read
      // after the number of records, so it includes the strings of all these records.
      const stringBytes = readStringBytes(this.#file, this.#header, epoch % 2);
      const hasStrings = this.#copyStrings(epoch % 2, stringBytes);
      const batch = this.#copyRecords(epoch % 2, hasStrings ? count : 0);
      if (readMutableFields(this.#file, this.#header).epoch !== epoch) {
        this.#epoch = -1;
        continue;
      }
      const firstIndex = this.#next;
      this.#next += batch.length / RECORD_SIZE;
      this.#isComplete = this.#next === records;
      if (this.#isComplete) this.#begun = 0;
      return { records: batch, firstIndex, epoch, isLast: this.#isComplete };
    }
  }

  /** True if there are records to copy, or the publisher switched directories. */
  hasChanges(): boolean {
    const { epoch, records } = readMutableFields(this.#file, this.#header);
    return epoch !== this.#epoch || records !== this.#next;
  }

  /**
   * The declaration of a record, which records with equal fields share; undefined if its schema is not a list of
   * ascending, finite numbers.
   * @throws Fault SEGMENT_CORRUPT for a string outside the string region
   */
  declaration(fields: DeclarationFields): Declaration | undefined {
    const { name, type, kind, unit, help } = fields;
    const cached = this.#declarations.get(name) ?? [];
    const known = cached.find((each) => isSame(each, fields));
    if (known !== undefined) return known.declaration;
    const schema = this.#schema(fields.schema);
    if (schema === undefined) return undefined;
    const declaration: Declaration = {
      name: this.text(name, LIMITS.nameBytes),
      type,
      kind,
      unit: this.text(unit, LIMITS.unitBytes),
      help: this.text(help, LIMITS.helpBytes),
      schema,
    };
    if (cached.length < MAX_PER_NAME)
      this.#declarations.set(name, [...cached, { ...fields, declaration }]);
    return declaration;
  }

  /** @throws Fault SEGMENT_CORRUPT for a string that is too long, or outside the string region */
  text(offset: number, maxBytes: number): string {
    if (offset === 0) return '';
    return this.#decoded(this.#texts, offset, maxBytes, (bytes) => bytes.toString());
  }

  /** The 8-byte floats at an offset; undefined if they are not a list of ascending, finite numbers. */
  #schema(offset: number): readonly number[] | undefined {
    if (offset === 0) return [];
    return this.#decoded(this.#schemas, offset, LIMITS.schemaEntries * 8, ascending);
  }

  #decoded<T>(
    known: LargeMap<T>,
    offset: number,
    maxBytes: number,
    decode: (bytes: Buffer) => T,
  ): T {
    const bytes = this.#bytesAt(offset, maxBytes);
    const decoded = known.get(offset);
    if (decoded !== undefined) return decoded;
    // Overlapping strings may add up to more than the region's size.
    this.#textBytes += bytes.length + 2;
    if (this.#textBytes > MAX_TEXT_BYTES)
      throw corrupt(`its strings add up to more than ${MAX_TEXT_BYTES} bytes`);
    const value = decode(bytes);
    known.set(offset, value);
    return value;
  }

  #bytesAt(offset: number, maxBytes: number): Buffer {
    if (offset + 2 > this.#stringBytes)
      throw corrupt(
        `a string at ${offset} lies outside the ${this.#stringBytes} valid string bytes`,
      );
    const length = this.#strings.readUInt16LE(offset);
    const end = offset + 2 + length;
    if (end > this.#stringBytes || length > maxBytes)
      throw corrupt(
        `a string at ${offset} has ${length} bytes, allowed: at most ${maxBytes}; ${this.#stringBytes - offset - 2} bytes remain for it`,
      );
    return this.#strings.subarray(offset + 2, end);
  }

  #begin(epoch: number): void {
    this.#epoch = epoch;
    this.#next = 0;
    this.#isComplete = false;
    this.#stringBytes = 0;
    this.#texts.clear();
    this.#schemas.clear();
    this.#textBytes = 0;
    this.#declarations.clear();
    if (++this.#begun > MAX_SWITCHES)
      throw new Fault(
        'SEGMENT_UNSTABLE',
        `The directory changed ${MAX_SWITCHES} times while it was being copied`,
      );
  }

  #copyRecords(side: number, count: number): Buffer {
    const records = Buffer.allocUnsafe(count * RECORD_SIZE);
    const at = (this.#header.directories[side] ?? 0) + this.#next * RECORD_SIZE;
    const read = this.#file.read(records, records.length, at);
    if (read < records.length)
      throw corrupt(`the file ends within the directory, at byte ${at + read}`);
    return records;
  }

  /** Copies the next part of the strings; false if there is more. Strings are only appended. */
  #copyStrings(side: number, bytes: number): boolean {
    if (bytes <= this.#stringBytes) return true;
    if (bytes > this.#strings.length) {
      const grown = Buffer.allocUnsafe(Math.min(bytes * 2, this.#header.stringCapacity));
      this.#strings.copy(grown, 0, 0, this.#stringBytes);
      this.#strings = grown;
    }
    const end = Math.min(bytes, this.#stringBytes + MAX_BATCH_STRING_BYTES);
    const tail = this.#strings.subarray(this.#stringBytes, end);
    const at = (this.#header.strings[side] ?? 0) + this.#stringBytes;
    const read = this.#file.read(tail, tail.length, at);
    if (read < tail.length) throw corrupt(`the file ends within the strings, at byte ${at + read}`);
    this.#stringBytes = end;
    return end === bytes;
  }
}

const isSame = (a: DeclarationFields, b: DeclarationFields): boolean =>
  a.unit === b.unit &&
  a.help === b.help &&
  a.schema === b.schema &&
  a.type === b.type &&
  a.kind === b.kind;

function ascending(bytes: Buffer): readonly number[] | undefined {
  if (bytes.length % 8 !== 0) return undefined;
  const entries = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(i * 8));
  const ascends = entries.every(
    (x, i) => Number.isFinite(x) && (i === 0 || x > (entries[i - 1] ?? x)),
  );
  return ascends ? entries : undefined;
}

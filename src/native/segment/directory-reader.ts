// Copies new directory records with their strings, and detects when the publisher switches directories.
import { LargeMap } from '../../collections/large-map.js';
import { Fault } from '../../errors.js';
import type { Declaration } from '../../model.js';
import type { SegmentFile } from '../os/shared-memory.js';
import { LIMITS, RECORD_SIZE, RECORD_WORDS } from './layout.js';
import { corrupt, readStringBytes, readMutableFields } from './segment-header.js';
import type { MutableFields, SegmentHeader } from './segment-header.js';
import { parseSeriesName } from './series-name.js';

/** The fields of a record that declare a variable. Each string is given by its offset. */
export interface DeclarationFields extends Pick<Declaration, 'type' | 'kind'> {
  readonly name: number;
  readonly unit: number;
  readonly help: number;
  readonly schema: number;
  /** Whether the name is the name and labels of a series. */
  readonly isSeries: boolean;
}

/** A declaration with the offsets of its strings; declarations with the same name form a linked list. */
interface CachedDeclaration {
  readonly unit: number;
  readonly help: number;
  readonly schema: number;
  readonly declaration: Declaration;
  readonly next: CachedDeclaration | undefined;
  /** Length of the list from this entry to its end. */
  readonly count: number;
}

/** Maximum number of cached declarations per name. Records share cached declarations only. */
const MAX_PER_NAME = 8;

const isSame = (known: CachedDeclaration, fields: DeclarationFields): boolean =>
  known.unit === fields.unit &&
  known.help === fields.help &&
  known.schema === fields.schema &&
  known.declaration.type === fields.type &&
  known.declaration.kind === fields.kind &&
  (known.declaration.metric !== undefined) === fields.isSeries;

/** Maximum number of records in a batch: a few milliseconds of work. */
export const MAX_BATCH_RECORDS = 1024;
/** Maximum number of string bytes that are copied with a batch. */
const MAX_BATCH_STRING_BYTES = 1 << 20;
const ATTEMPTS = 5;
/** Maximum total size in bytes of the texts and schemas that are decoded for one directory. */
const MAX_TEXT_BYTES = 2 ** 28;
const NO_SCHEMA: readonly number[] = [];

/** Consecutive records. Their strings have been copied. */
export interface RecordBatch {
  /** 16 words per record; empty while strings are still being copied. */
  readonly words: Uint32Array;
  readonly firstIndex: number;
  /** True for the first batch after a switch of directories. */
  readonly isNewDirectory: boolean;
  /** True if the batch reaches the end of the directory. */
  readonly isLast: boolean;
}

export class DirectoryReader {
  readonly #file: SegmentFile;
  readonly #header: SegmentHeader;
  #epoch = -1;
  #next = 0;
  /** Whether the directory was copied up to its end. */
  #isComplete = false;
  /** How often the publisher has switched directories since a directory was last copied completely. */
  #switches = 0;
  #strings = Buffer.alloc(0);
  #stringBytes = 0;
  readonly #texts = new LargeMap<string>();
  readonly #schemas = new LargeMap<readonly number[]>();
  #textBytes = 0;
  /** The newest declaration of each name, by the offset of the name. */
  readonly #declarations = new LargeMap<CachedDeclaration>();

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
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const known = attempt === 0 ? fields : undefined;
      const before = known ?? readMutableFields(this.#file, this.#header);
      const isNewDirectory = before.epoch !== this.#epoch;
      if (isNewDirectory) {
        const wasInterrupted = this.#epoch !== -1 && !this.#isComplete;
        this.#restart();
        if (wasInterrupted && ++this.#switches >= ATTEMPTS) break;
      }
      const count = Math.min(before.records - this.#next, MAX_BATCH_RECORDS);
      if (count < 0) throw corrupt(`the directory shrank to ${before.records} records`);
      if (count === 0 && !isNewDirectory) return undefined;
      const active = before.epoch % 2;
      // The publisher stores the strings of a record before it counts the record. The number of string bytes is read
      // after the number of records (in `before`), so it includes the strings of all these records.
      const hasStrings = this.#copyStrings(
        active,
        readStringBytes(this.#file, this.#header, active),
      );
      const words = this.#copyRecords(active, hasStrings ? count : 0);
      if (readMutableFields(this.#file, this.#header).epoch !== before.epoch) continue;
      this.#epoch = before.epoch;
      const firstIndex = this.#next;
      this.#next += words.length / RECORD_WORDS;
      this.#isComplete = this.#next === before.records;
      if (this.#isComplete) this.#switches = 0;
      return { words, firstIndex, isNewDirectory, isLast: this.#isComplete };
    }
    this.#epoch = -1;
    throw new Fault(
      'SEGMENT_UNSTABLE',
      `The directory changed ${ATTEMPTS} times while it was being copied`,
    );
  }

  /** True if there are records to copy, or the publisher switched directories. */
  hasChanges(): boolean {
    const { epoch, records } = readMutableFields(this.#file, this.#header);
    return epoch !== this.#epoch || records !== this.#next;
  }

  /**
   * The declaration of a record, which records with equal fields share; undefined if its schema is not a list of
   * ascending, finite numbers.
   * @throws Fault SEGMENT_CORRUPT for a string outside the string region, or a series that the format does not allow
   */
  declaration(fields: DeclarationFields): Declaration | undefined {
    const { name, unit, help, schema } = fields;
    const first = this.#declarations.get(name);
    for (let known = first; known !== undefined; known = known.next)
      if (isSame(known, fields)) return known.declaration;
    const declaration = this.#readDeclaration(fields, first?.declaration.name);
    const count = 1 + (first?.count ?? 0);
    if (declaration === undefined || count > MAX_PER_NAME) return declaration;
    this.#declarations.set(name, { unit, help, schema, declaration, next: first, count });
    return declaration;
  }

  #readDeclaration(at: DeclarationFields, name: string | undefined): Declaration | undefined {
    const schema = this.#schema(at.schema);
    if (schema === undefined) return undefined;
    const { type, kind, isSeries } = at;
    const most = isSeries ? LIMITS.seriesBytes : LIMITS.nameBytes;
    const declaration = {
      name: name ?? this.text(at.name, most, false),
      type,
      kind,
      unit: this.text(at.unit, LIMITS.unitBytes, true),
      help: this.text(at.help, LIMITS.helpBytes, true),
      schema,
    };
    if (!isSeries) return declaration;
    const series = parseSeriesName(declaration.name, type);
    if (typeof series === 'string') throw corrupt(`a series ${series}`);
    return { ...declaration, metric: { ...series, help: declaration.help } };
  }

  /** The text at an offset. @param keep whether to cache the text, for texts that many records share */
  text(offset: number, maxBytes: number, keep: boolean): string {
    if (offset === 0) return '';
    const end = this.#endOf(offset, maxBytes);
    const known = this.#texts.get(offset);
    if (known !== undefined) return known;
    const text = this.#strings.toString('utf8', offset + 2, end);
    this.#spend(end - offset);
    if (keep) this.#texts.set(offset, text);
    return text;
  }

  /** The 8-byte floats at an offset; undefined if they are not a list of ascending, finite numbers. */
  #schema(offset: number): readonly number[] | undefined {
    if (offset === 0) return NO_SCHEMA;
    const end = this.#endOf(offset, LIMITS.schemaEntries * 8);
    const known = this.#schemas.get(offset);
    if (known !== undefined) return known;
    const schema = ascending(this.#strings.subarray(offset + 2, end));
    this.#spend(end - offset);
    if (schema !== undefined) this.#schemas.set(offset, schema);
    return schema;
  }

  /** Counts bytes towards the limit, since overlapping strings may add up to more than the region's size. */
  #spend(bytes: number): void {
    this.#textBytes += bytes;
    if (this.#textBytes > MAX_TEXT_BYTES)
      throw corrupt(`its strings add up to more than ${MAX_TEXT_BYTES} bytes`);
  }

  #endOf(offset: number, maxBytes: number): number {
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
    return end;
  }

  #restart(): void {
    this.#epoch = -1;
    this.#next = 0;
    this.#stringBytes = 0;
    this.#texts.clear();
    this.#schemas.clear();
    this.#textBytes = 0;
    this.#declarations.clear();
  }

  #copyRecords(active: number, count: number): Uint32Array {
    const records = new Uint8Array(count * RECORD_SIZE);
    const at = (this.#header.directories[active] ?? 0) + this.#next * RECORD_SIZE;
    const read = this.#file.read(records, records.length, at);
    if (read < records.length)
      throw corrupt(`the file ends within the directory, at byte ${at + read}`);
    return new Uint32Array(records.buffer);
  }

  /** Copies the next part of the strings; false if there is more. Strings are only appended. */
  #copyStrings(active: number, bytes: number): boolean {
    if (bytes <= this.#stringBytes) return true;
    if (bytes > this.#strings.length) {
      const grown = Buffer.allocUnsafe(Math.min(bytes * 2, this.#header.stringCapacity));
      this.#strings.copy(grown, 0, 0, this.#stringBytes);
      this.#strings = grown;
    }
    const end = Math.min(bytes, this.#stringBytes + MAX_BATCH_STRING_BYTES);
    const tail = this.#strings.subarray(this.#stringBytes, end);
    const at = (this.#header.strings[active] ?? 0) + this.#stringBytes;
    const read = this.#file.read(tail, tail.length, at);
    if (read < tail.length) throw corrupt(`the file ends within the strings, at byte ${at + read}`);
    this.#stringBytes = end;
    return end === bytes;
  }
}

function ascending(bytes: Buffer): readonly number[] | undefined {
  if (bytes.length % 8 !== 0) return undefined;
  const entries = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(i * 8));
  const ascends = entries.every(
    (x, i) => Number.isFinite(x) && (i === 0 || x > (entries[i - 1] ?? x)),
  );
  return ascends ? entries : undefined;
}

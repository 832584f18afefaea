// Reads a directory of Varnish segments: the index, files and schemas of one process.
import { Fault } from '../errors.js';
import { VerifiedFile, withDirectory, pathOf } from '../foreign/verified-file.js';
import type { DirectoryPath } from '../foreign/verified-file.js';
import { parseSchema } from './schema.js';
import type { Schema } from './schema.js';
import { HEADER, IndexFile, LIMITS, READY } from './segment-index.js';
import type { IndexEntry, IndexWriter, SegmentIndex } from './segment-index.js';

/** The header of a segment, which holds values or a schema. */
export interface VarnishSegmentHeader {
  /** The state: a value of `READY`, or an unknown number. */
  readonly ready: number;
  /** The offset of the body from the start of the segment. */
  readonly bodyOffset: number;
  /**
   * The id of the schema that describes the values; for a schema, its own id. A restart of Varnish changes the ids.
   */
  readonly schemaId: bigint;
}

/** Decodes a header. @param bytes aligned to 8 in memory */
export function headerOf(bytes: Uint8Array): VarnishSegmentHeader {
  const { buffer, byteOffset } = bytes;
  const [ready = 0] = new Int32Array(buffer, byteOffset + HEADER.ready, 1);
  const [bodyOffset = 0n, schemaId = 0n] = new BigUint64Array(
    buffer,
    byteOffset + HEADER.bodyOffset,
    2,
  );
  return { ready, bodyOffset: Number(bodyOffset), schemaId };
}

const INDEX = '_.index';

interface KnownSchema {
  readonly schema: Schema | Fault;
  /** The text of the schema; undefined if it is unreadable. */
  readonly json: string | undefined;
  /** The stamp of the schema's file at the last read of the schema. */
  stamp: string;
}

export class SegmentDirectory {
  readonly #path: DirectoryPath;
  readonly #isTrusted: (uid: number) => boolean;
  readonly #files = new Map<string, VerifiedFile>();
  /** The schemas that have been read, usable or not. */
  readonly #schemas = new Map<IndexEntry, KnownSchema>();
  /** The index entries of schemas, by schema id in hexadecimal. */
  #schemaEntries: ReadonlyMap<string, IndexEntry> = new Map();
  readonly #header = Buffer.from(new ArrayBuffer(HEADER.bytes));
  #indexFile: IndexFile;
  #isClosed = false;

  /**
   * Opens a directory and reads its index.
   * @throws Fault or Error if this user cannot read the directory, or if its owner is not trusted
   */
  constructor(path: DirectoryPath, isTrusted: (uid: number) => boolean) {
    this.#path = path;
    this.#isTrusted = isTrusted;
    this.#indexFile = this.#openIndex();
    this.#dropUnlisted();
  }

  get path(): string {
    return pathOf(this.#path);
  }

  get index(): SegmentIndex {
    return this.#indexFile.index;
  }

  /** The process that writes the index; undefined until it has written the first line. */
  get writer(): IndexWriter | undefined {
    return this.index.writer;
  }

  /**
   * Reads changes of the index; false if a different process now owns the directory.
   * @throws Fault SEGMENT_CORRUPT for an invalid index
   */
  update(): boolean {
    const hasNewLines = this.#indexFile.update();
    const isReplaced = this.#indexFile.isReplaced;
    if (isReplaced && !this.#reopenIndex()) return false;
    if (hasNewLines || isReplaced) this.#dropUnlisted();
    return true;
  }

  /** Reads schemas again if their files changed: an incomplete schema may now be complete. */
  updateSchemas(): void {
    for (const [entry, known] of this.#schemas) {
      const stamp = this.#stampOf(entry);
      if (stamp === known.stamp) continue;
      this.#schemas.delete(entry);
      const again = this.#parseSchema(entry, BigInt(`0x${entry.ident}`));
      // If the text is unchanged, keep its `Schema` object: for a new object, all its segments in the tree would be
      // replaced.
      if (again?.json !== undefined && again.json === known.json) {
        known.stamp = again.stamp;
        this.#schemas.set(entry, known);
      }
    }
  }

  /** Whether the index still lists a segment; never throws. */
  has(entry: IndexEntry): boolean {
    try {
      return this.update() && this.index.same(entry) === entry;
    } catch {
      return false;
    }
  }

  /** Reads the header of a segment; undefined if the file ends before the end of the header. @throws Fault or Error */
  headerAt(entry: IndexEntry): VarnishSegmentHeader | undefined {
    return this.read(entry, this.#header) ? headerOf(this.#header) : undefined;
  }

  /** Fills `into` with the first bytes of a segment; false if the file is too short. @throws Fault or Error */
  read(entry: IndexEntry, into: Uint8Array): boolean {
    if (entry.offset % 8 !== 0 || entry.length < into.length)
      throw new Fault(
        'SEGMENT_CORRUPT',
        `has a segment of ${entry.length} bytes at byte ${entry.offset}, allowed: at least ${into.length} bytes, at multiples of 8`,
      );
    return this.#file(entry.file).read(into, entry.offset) === into.length;
  }

  /**
   * The schema with an id; undefined while the schema is missing or incomplete.
   * @throws Fault for an invalid schema
   */
  schema(id: bigint): Schema | undefined {
    const entry = this.#schemaEntries.get(id.toString(16));
    if (entry === undefined) return undefined;
    const { schema } = this.#schemas.get(entry) ?? this.#parseSchema(entry, id) ?? {};
    if (schema instanceof Fault) throw schema;
    return schema;
  }

  /** After it, no method opens a file: a view may still copy values. */
  close(): void {
    this.#isClosed = true;
    this.#indexFile.close();
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
  }

  #openIndex(former?: SegmentIndex): IndexFile {
    const file = withDirectory(this.#path, ({ path, uid }) => {
      if (!this.#isTrusted(uid))
        throw new Fault('NATIVE_FAILED', `belongs to user ${uid}, who is not in trusted_owners`);
      return new IndexFile(`${path}/${INDEX}`, uid, former);
    });
    try {
      file.update();
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Opens the index that replaced the former index; false if a different process wrote the new one. */
  #reopenIndex(): boolean {
    const before = this.writer;
    const next = this.#openIndex(this.index);
    const { writer } = next.index;
    if (writer === undefined || writer.pid !== before?.pid || writer.birth !== before.birth) {
      next.close();
      return false;
    }
    this.#indexFile.close();
    this.#indexFile = next;
    return true;
  }

  /** Updates the entries of schemas, and closes files that the index no longer lists. */
  #dropUnlisted(): void {
    const entries = new Set(this.index.entries);
    const files = new Set([...entries].map(({ file }) => file));
    const schemas = [...entries].filter(({ className }) => className === 'StatDoc');
    this.#schemaEntries = new Map(schemas.map((entry) => [entry.ident, entry]));
    for (const entry of this.#schemas.keys()) if (!entries.has(entry)) this.#schemas.delete(entry);
    for (const [name, file] of this.#files)
      if (!files.has(name)) {
        file.close();
        this.#files.delete(name);
      }
  }

  #file(name: string): VerifiedFile {
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    if (this.#isClosed) throw new Fault('NATIVE_FAILED', 'is closed');
    if (this.#files.size >= LIMITS.files)
      throw new Fault('NATIVE_FAILED', `has segments in more than ${LIMITS.files} files`);
    const file = withDirectory(
      this.#path,
      ({ path, uid }) => new VerifiedFile(`${path}/${name}`, uid, LIMITS.fileBytes),
    );
    this.#files.set(name, file);
    return file;
  }

  /** Reads a schema into the cache; undefined while Varnish writes it. @throws Fault if there are too many schemas */
  #parseSchema(entry: IndexEntry, id: bigint): KnownSchema | undefined {
    if (this.#schemas.size >= LIMITS.schemas)
      throw new Fault('NATIVE_FAILED', `has more than ${LIMITS.schemas} schemas`);
    const stamp = this.#stampOf(entry);
    const header = this.headerAt(entry);
    if (header === undefined || header.ready === READY.building) return undefined;
    let json: string | undefined;
    let schema: Schema | Fault;
    try {
      json = this.#json(entry, header, id);
      schema = parseSchema(json);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      schema = new Fault(error.code, `has a schema that ${error.message}`);
    }
    const known = { schema, json, stamp };
    this.#schemas.set(entry, known);
    return known;
  }

  /** The stamp of an entry's file; empty if the file cannot be opened. */
  #stampOf({ file }: IndexEntry): string {
    try {
      return this.#file(file).stamp;
    } catch {
      return '';
    }
  }

  #json(entry: IndexEntry, { bodyOffset, schemaId }: VarnishSegmentHeader, id: bigint): string {
    const refuse = (what: string) => new Fault('SEGMENT_CORRUPT', what);
    if (schemaId !== id) throw refuse('has different ids in its file and in the index');
    if (entry.length > LIMITS.schemaBytes)
      throw refuse(`has ${entry.length} bytes, allowed: at most ${LIMITS.schemaBytes}`);
    if (bodyOffset < HEADER.bytes || bodyOffset >= entry.length)
      throw refuse(`begins at byte ${bodyOffset}, allowed: ${HEADER.bytes} to ${entry.length - 1}`);
    const bytes = Buffer.alloc(entry.length);
    if (!this.read(entry, bytes)) throw refuse('is truncated');
    const end = bytes.indexOf(0, bodyOffset);
    return bytes.toString('utf8', bodyOffset, end < 0 ? bytes.length : end);
  }
}

/** The number of cached headers that a poll reads again. The next poll continues with the headers after them. */
const READS_PER_POLL = 512;

/** A header, or the error that occurred when it was read; undefined if the file was too short. */
type CachedHeader = VarnishSegmentHeader | Error | undefined;

/** Caches the headers of segments, and refreshes a bounded number of them per poll. */
export class HeaderCache {
  readonly #known = new WeakMap<IndexEntry, CachedHeader>();
  #from = 0;
  #position = 0;

  /** Starts a poll. Each poll must call `get` for the headers in the same order. */
  startPoll(): void {
    this.#from = this.#from + READS_PER_POLL >= this.#position ? 0 : this.#from + READS_PER_POLL;
    this.#position = 0;
  }

  /** Returns a cached or new header; undefined if the file ends before the end of the header. @throws Error */
  get(directory: SegmentDirectory, entry: IndexEntry): VarnishSegmentHeader | undefined {
    const at = this.#position++;
    const isDue = at >= this.#from && at < this.#from + READS_PER_POLL;
    if (isDue || !this.#known.has(entry)) this.#known.set(entry, read(directory, entry));
    const known = this.#known.get(entry);
    if (known instanceof Error) throw known;
    return known;
  }
}

function read(directory: SegmentDirectory, entry: IndexEntry): CachedHeader {
  try {
    return directory.headerAt(entry);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

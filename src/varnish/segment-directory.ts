// A directory in which one process of Varnish keeps its segments: its index, files and schemas.
import { Fault } from '../errors.js';
import { VerifiedFile, withDirectory, pathOf } from '../foreign/verified-file.js';
import type { DirectoryPath } from '../foreign/verified-file.js';
import { readSchema } from './schema.js';
import type { Schema } from './schema.js';
import { HEADER, IndexFile, LIMITS, READY } from './segment-index.js';
import type { IndexEntry, IndexWriter, SegmentIndex } from './segment-index.js';

// The header of a segment, of values or of a schema.
export interface VarnishSegmentHeader {
  /** One of `READY`, or another number. */
  readonly ready: number;
  /** Where its body begins, from the start of the segment. */
  readonly bodyOffset: number;
  /** Tells which schema it has, or is; meaningful within one start of Varnish. */
  readonly schemaId: bigint;
}

/** @param bytes begin at a multiple of 8 in memory */
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
  /** The text of the schema; undefined if it could not be read. */
  readonly json: string | undefined;
  /** The stamp of the file when it was read. */
  stamp: string;
}

export class SegmentDirectory {
  readonly #place: DirectoryPath;
  readonly #isTrusted: (uid: number) => boolean;
  readonly #files = new Map<string, VerifiedFile>();
  /** By the entry; a fault for one that cannot be used. */
  readonly #schemas = new Map<IndexEntry, KnownSchema>();
  /** Entries of schemas by the digits of their ids. */
  #descriptions: ReadonlyMap<string, IndexEntry> = new Map();
  readonly #header = Buffer.from(new ArrayBuffer(HEADER.bytes));
  #indexFile: IndexFile;

  /**
   * Opens a directory and reads its index.
   * @throws Fault or Error for one that cannot be read or must not be believed
   */
  constructor(place: DirectoryPath, isTrusted: (uid: number) => boolean) {
    this.#place = place;
    this.#isTrusted = isTrusted;
    this.#indexFile = this.#opened();
    this.#tidy();
  }

  get path(): string {
    return pathOf(this.#place);
  }

  get index(): SegmentIndex {
    return this.#indexFile.index;
  }

  /** Undefined until the process has written its first line. */
  get writer(): IndexWriter | undefined {
    return this.index.writer;
  }

  /**
   * Takes in what the index says now; false if another process has the directory, or none.
   * @throws Fault SEGMENT_CORRUPT for an index that no Varnish writes
   */
  update(): boolean {
    const hasNews = this.#indexFile.update();
    const isReplaced = this.#indexFile.isReplaced;
    if (isReplaced && !this.#follow()) return false;
    if (hasNews || isReplaced) this.#tidy();
    return true;
  }

  /** Reads the schemas of changed files again: an incomplete one may be complete by now. */
  updateSchemas(): void {
    for (const [entry, known] of this.#schemas) {
      const stamp = this.#stampOf(entry);
      if (stamp === known.stamp) continue;
      this.#schemas.delete(entry);
      const again = this.#readSchema(entry, BigInt(`0x${entry.ident}`));
      // An unchanged text keeps its `Schema` object: a new one would mean that its segments changed.
      if (again?.json !== undefined && again.json === known.json) {
        known.stamp = again.stamp;
        this.#schemas.set(entry, known);
      }
    }
  }

  /** Whether a segment is still where the index said, as far as that can be known: never throws. */
  has(entry: IndexEntry): boolean {
    try {
      return this.update() && this.index.same(entry) === entry;
    } catch {
      return false;
    }
  }

  /** The header of a segment; undefined for one that its file does not hold. @throws Fault or Error */
  headerAt(entry: IndexEntry): VarnishSegmentHeader | undefined {
    return this.read(entry, this.#header) ? headerOf(this.#header) : undefined;
  }

  /** Copies the beginning of a segment; false if its file ends before. @throws Fault or Error */
  read(entry: IndexEntry, into: Uint8Array): boolean {
    if (entry.offset % 8 !== 0 || entry.length < into.length)
      throw new Fault('SEGMENT_CORRUPT', `has a segment of ${entry.length} bytes`);
    return this.#file(entry.file).read(into, entry.offset) === into.length;
  }

  /**
   * The schema of an id; undefined while there is none.
   * @throws Fault for one that cannot be used, with a sentence
   */
  schema(id: bigint): Schema | undefined {
    const entry = this.#descriptions.get(id.toString(16));
    if (entry === undefined) return undefined;
    const { schema } = this.#schemas.get(entry) ?? this.#readSchema(entry, id) ?? {};
    if (schema instanceof Fault) throw schema;
    return schema;
  }

  close(): void {
    this.#indexFile.close();
    for (const file of this.#files.values()) file.close();
    this.#files.clear();
  }

  #opened(known?: SegmentIndex): IndexFile {
    const file = withDirectory(this.#place, ({ path, uid }) => {
      if (!this.#isTrusted(uid))
        throw new Fault('NATIVE_FAILED', `belongs to user ${uid}, who is not trusted`);
      return new IndexFile(`${path}/${INDEX}`, uid, known);
    });
    try {
      file.update();
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Goes on with the index that took the place of the former, if the same process wrote it. */
  #follow(): boolean {
    const before = this.writer;
    const next = this.#opened(this.index);
    const { writer } = next.index;
    if (writer === undefined || writer.pid !== before?.pid || writer.birth !== before.birth) {
      next.close();
      return false;
    }
    this.#indexFile.close();
    this.#indexFile = next;
    return true;
  }

  /** Notes which schemas there are, and closes files that no segment is in any more. */
  #tidy(): void {
    const entries = new Set(this.index.entries);
    const files = new Set([...entries].map(({ file }) => file));
    const schemas = [...entries].filter(({ className }) => className === 'StatDoc');
    this.#descriptions = new Map(schemas.map((entry) => [entry.ident, entry]));
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
    if (this.#files.size >= LIMITS.files)
      throw new Fault('NATIVE_FAILED', `is in one more than ${LIMITS.files} files`);
    const file = withDirectory(
      this.#place,
      ({ path, uid }) => new VerifiedFile(`${path}/${name}`, uid, LIMITS.fileBytes),
    );
    this.#files.set(name, file);
    return file;
  }

  /** Reads and keeps a schema; undefined while it is being written. @throws Fault beyond the limit of schemas */
  #readSchema(entry: IndexEntry, id: bigint): KnownSchema | undefined {
    if (this.#schemas.size >= LIMITS.schemas)
      throw new Fault('NATIVE_FAILED', `has one more than ${LIMITS.schemas} schemas`);
    const stamp = this.#stampOf(entry);
    const header = this.headerAt(entry);
    if (header === undefined || header.ready === READY.building) return undefined;
    let json: string | undefined;
    let schema: Schema | Fault;
    try {
      json = this.#json(entry, header, id);
      schema = readSchema(json);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      schema = new Fault(error.code, `has a schema that ${error.message}`);
    }
    const known = { schema, json, stamp };
    this.#schemas.set(entry, known);
    return known;
  }

  /** The stamp of the file of an entry; empty if it cannot be opened. */
  #stampOf({ file }: IndexEntry): string {
    try {
      return this.#file(file).stamp;
    } catch {
      return '';
    }
  }

  #json(entry: IndexEntry, { bodyOffset, schemaId }: VarnishSegmentHeader, id: bigint): string {
    const refuse = (what: string) => new Fault('SEGMENT_CORRUPT', what);
    if (schemaId !== id) throw refuse('has another id in its file than in the index');
    if (entry.length > LIMITS.schemaBytes) throw refuse(`has ${entry.length} bytes`);
    if (bodyOffset < HEADER.bytes || bodyOffset >= entry.length)
      throw refuse(`begins at byte ${bodyOffset}`);
    const bytes = Buffer.alloc(entry.length);
    if (!this.read(entry, bytes)) throw refuse('is cut');
    const end = bytes.indexOf(0, bodyOffset);
    return bytes.toString('utf8', bodyOffset, end < 0 ? bytes.length : end);
  }
}

/** Headers that are read again in one look; of more segments, the others have their turn in the next. */
const READS_A_LOOK = 512;

/** A header, or why it could not be read. */
type KnownSegment =
  | { readonly header: VarnishSegmentHeader | undefined; readonly error?: undefined }
  | { readonly error: Error };

export class SegmentHeaders {
  readonly #known = new WeakMap<IndexEntry, KnownSegment>();
  #from = 0;
  #position = 0;

  /** A look begins: the headers are asked for in the same order each time. */
  begin(): void {
    this.#from = this.#from + READS_A_LOOK >= this.#position ? 0 : this.#from + READS_A_LOOK;
    this.#position = 0;
  }

  /** As it is, or was lately; undefined for a segment that its file does not hold. @throws Error */
  of(directory: SegmentDirectory, entry: IndexEntry): VarnishSegmentHeader | undefined {
    const at = this.#position++;
    const isDue = at >= this.#from && at < this.#from + READS_A_LOOK;
    let known = this.#known.get(entry);
    if (known === undefined || isDue) {
      known = read(directory, entry);
      this.#known.set(entry, known);
    }
    if (known.error !== undefined) throw known.error;
    return known.header;
  }
}

function read(directory: SegmentDirectory, entry: IndexEntry): KnownSegment {
  try {
    return { header: directory.headerAt(entry) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

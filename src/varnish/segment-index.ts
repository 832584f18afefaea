// Reads the index in which a process of Varnish lists its segments.
import { Fault } from '../errors.js';
import { VerifiedFile } from '../foreign/verified-file.js';

/** Offsets in a segment's header, and its size. Values are in the byte order of the machine. */
export const HEADER = { ready: 0, bodyOffset: 8, schemaId: 16, bytes: 24 } as const;

/** States of a segment. */
export const READY = { building: 0, visible: 1, hidden: 2 } as const;

/** Size and alignment of a value. */
export const VALUE_BYTES = 8;

export const LIMITS = {
  /** Bytes of an index, and of one of its lines. */
  indexBytes: 2 ** 22,
  lineBytes: 1024,
  /** Segments with values, and segments with schemas, per directory. */
  segments: 8192,
  schemas: 256,
  /** Open files per directory, and bytes of a file. */
  files: 1024,
  fileBytes: 2 ** 26,
  /** Bytes of a schema, and number of values that it describes. */
  schemaBytes: 2 ** 20,
  fields: 4096,
  /** Bytes of a segment with values. */
  bodyBytes: 2 ** 16,
} as const;

/** One line of the index: a segment in a file. */
export interface IndexEntry {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly className: 'Stat' | 'StatDoc';
  /** The owner of the values, such as `VBE.boot.origin`; for a schema, its id in hexadecimal. */
  readonly ident: string;
}

/** The process that writes an index. */
export interface IndexWriter {
  readonly pid: number;
  /** Start time of the index, in Unix seconds. */
  readonly birth: number;
}

const FIRST_LINE = /^# (?<pid>[1-9]\d{0,9}) (?<birth>\d{1,12})$/;
/** A line with empty class and ident declares a file of several segments. */
const LINE =
  /^(?<sign>[+-]) (?<file>_\.[A-Za-z0-9_.-]{1,128}) (?<offset>\d{1,15}) (?<length>\d{1,15}) (?<className>\S*) (?<ident>.*)$/;
const LINE_FEED = 10;

/** The entries of an index, parsed line by line. */
export class SegmentIndex {
  readonly #entries = new Map<string, IndexEntry>();
  /** Keys of the entries by file and offset: only one segment can be there at a time. */
  readonly #keyByLocation = new Map<string, string>();
  #writer: IndexWriter | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #lines = 0;
  #leftOut = 0;

  /** Undefined until the first line is complete. */
  get writer(): IndexWriter | undefined {
    return this.#writer;
  }

  /** Segments with values or schemas, in the order of their lines. */
  get entries(): Iterable<IndexEntry> {
    return this.#entries.values();
  }

  /** Number of segments beyond the limit. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The present entry with the same content: the same object for as long as the segment exists. */
  same(entry: IndexEntry): IndexEntry | undefined {
    return this.#entries.get(keyOf(entry));
  }

  /**
   * Parses the next bytes of the file; an incomplete last line waits for more.
   * @param former an index of the same process; equal lines reuse its entry objects
   * @throws Fault SEGMENT_CORRUPT for an invalid line
   */
  append(bytes: Uint8Array, former?: SegmentIndex): void {
    const all = Buffer.concat([this.#rest, bytes]);
    let start = 0;
    for (let end = all.indexOf(LINE_FEED); end >= 0; end = all.indexOf(LINE_FEED, start)) {
      if (end - start > LIMITS.lineBytes) throw this.#corrupt();
      this.#lines++;
      this.#parseLine(all.toString('latin1', start, end), former);
      start = end + 1;
    }
    this.#rest = all.subarray(start);
    if (this.#rest.length > LIMITS.lineBytes) throw this.#corrupt();
  }

  #parseLine(line: string, former: SegmentIndex | undefined): void {
    if (this.#lines === 1) {
      const { pid, birth } = FIRST_LINE.exec(line)?.groups ?? {};
      if (pid === undefined) throw this.#corrupt();
      this.#writer = { pid: Number(pid), birth: Number(birth) };
      return;
    }
    const {
      sign,
      file = '',
      offset,
      length,
      className,
      ident = '',
    } = LINE.exec(line)?.groups ?? {};
    if (sign === undefined) throw this.#corrupt();
    if (className !== 'Stat' && className !== 'StatDoc') return;
    const entry = {
      file,
      offset: Number(offset),
      length: Number(length),
      className,
      ident,
    } as const;
    if (sign === '+') this.#add(former?.same(entry) ?? entry);
    else this.#remove(entry);
  }

  #add(entry: IndexEntry): void {
    if (this.#entries.size >= LIMITS.segments + LIMITS.schemas) {
      this.#leftOut++;
      return;
    }
    const key = keyOf(entry);
    const there = this.#keyByLocation.get(locationOf(entry));
    if (there !== undefined && there !== key) throw this.#corrupt();
    this.#keyByLocation.set(locationOf(entry), key);
    this.#entries.set(key, entry);
  }

  #remove(entry: IndexEntry): void {
    if (this.#entries.delete(keyOf(entry))) this.#keyByLocation.delete(locationOf(entry));
    else if (this.#leftOut > 0) this.#leftOut--;
  }

  #corrupt(): Fault {
    return new Fault(
      'SEGMENT_CORRUPT',
      `line ${Math.max(1, this.#lines)} of the index is none of Varnish`,
    );
  }
}

const locationOf = ({ file, offset }: IndexEntry): string => `${file} ${offset}`;

const keyOf = ({ file, offset, length, className, ident }: IndexEntry): string =>
  `${file} ${offset} ${length} ${className} ${ident}`;

/** Bytes from the start of the file that must stay the same. */
const START_BYTES = 64;

/** The file of an index. Varnish only appends to it or replaces it. */
export class IndexFile {
  readonly #file: VerifiedFile;
  /** The content at the last `update`. */
  readonly index = new SegmentIndex();
  readonly #former: SegmentIndex | undefined;
  #stamp = '';
  #bytes = 0;
  #start: Buffer = Buffer.alloc(0);

  /**
   * Opens an index.
   * @param former the former index of the directory, if the same process wrote it
   * @throws Fault or Error like `VerifiedFile`
   */
  constructor(path: string, directoryUid: number, former?: SegmentIndex) {
    this.#file = new VerifiedFile(path, directoryUid, LIMITS.indexBytes);
    this.#former = former;
  }

  /** Whether the file was removed or replaced. */
  get isReplaced(): boolean {
    return this.#file.isUnlinked;
  }

  /**
   * Reads the lines that were appended; returns whether there were any.
   * @throws Fault SEGMENT_CORRUPT if the file was changed in another way, or has an invalid line
   */
  update(): boolean {
    const { stamp } = this.#file;
    if (stamp === this.#stamp) return false;
    const { size } = this.#file;
    if (size < this.#bytes) throw new Fault('SEGMENT_CORRUPT', 'the index was cut');
    if (size > LIMITS.indexBytes) throw new Fault('SEGMENT_CORRUPT', `the index has ${size} bytes`);
    this.#checkStart();
    const added = Buffer.alloc(size - this.#bytes);
    const bytes = added.subarray(0, this.#file.read(added, this.#bytes));
    this.index.append(bytes, this.#former);
    if (this.#start.length < START_BYTES)
      this.#start = Buffer.concat([this.#start, bytes]).subarray(0, START_BYTES);
    this.#bytes += bytes.length;
    // Bytes that were appended during the read change the stamp.
    this.#stamp = stamp;
    return bytes.length > 0;
  }

  close(): void {
    this.#file.close();
  }

  #checkStart(): void {
    const begin = Buffer.alloc(this.#start.length);
    const bytes = this.#file.read(begin, 0);
    if (!begin.subarray(0, bytes).equals(this.#start))
      throw new Fault('SEGMENT_CORRUPT', 'the index was written anew in its place');
  }
}

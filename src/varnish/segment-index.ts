// Reads the index file in which a process of Varnish lists its segments.
import { Fault } from '../errors.js';
import { VerifiedFile } from '../foreign/verified-file.js';

/** The offsets of the fields of a segment header, and its size. Numbers are in the byte order of the machine. */
export const HEADER = { ready: 0, bodyOffset: 8, schemaId: 16, bytes: 24 } as const;

/** The states of a segment. */
export const READY = { building: 0, visible: 1, hidden: 2 } as const;

/** The size and alignment of a value. */
export const VALUE_BYTES = 8;

export const LIMITS = {
  /** The maximum number of bytes of an index, and of one of its lines. */
  indexBytes: 2 ** 22,
  lineBytes: 1024,
  /** The maximum number of segments with values, and of segments with schemas, per directory. */
  segments: 8192,
  schemas: 256,
  /** The maximum number of open files per directory, and of bytes of a file. */
  files: 1024,
  fileBytes: 2 ** 26,
  /** The maximum number of bytes of a schema, and of fields in a schema. */
  schemaBytes: 2 ** 20,
  fields: 4096,
  /** The maximum number of bytes of a segment with values. */
  bodyBytes: 2 ** 16,
} as const;

/** A line of the index: the location of a segment in a file. */
export interface IndexEntry {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly className: 'Stat' | 'StatDoc';
  /** The name of the object that the values describe, such as `VBE.boot.origin`; for a schema, its id in hexadecimal. */
  readonly ident: string;
}

/** The process that writes an index. */
export interface IndexWriter {
  readonly pid: number;
  /** The time when the process created the index, in Unix seconds. */
  readonly birth: number;
}

const FIRST_LINE = /^# (?<pid>[1-9]\d{0,9}) (?<birth>\d{1,12})$/;
/** Matches a line. If class and ident are empty, the line declares a file that holds several segments. */
const LINE =
  /^(?<sign>[+-]) (?<file>_\.[A-Za-z0-9_.-]{1,128}) (?<offset>\d{1,15}) (?<length>\d{1,15}) (?<className>\S*) (?<ident>.*)$/;
const LINE_FEED = 10;

/** The entries of an index, parsed line by line. */
export class SegmentIndex {
  readonly #entries = new Map<string, IndexEntry>();
  /** The keys of the entries, by file and offset. Only one segment at a time can be at a location. */
  readonly #keyByLocation = new Map<string, string>();
  #writer: IndexWriter | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #lines = 0;
  #leftOut = 0;

  /** The process that writes the index; undefined until its first line is complete. */
  get writer(): IndexWriter | undefined {
    return this.#writer;
  }

  /** The entries of segments with values or schemas, in the order of their lines. */
  get entries(): Iterable<IndexEntry> {
    return this.#entries.values();
  }

  /** The number of segments beyond the limit, which are omitted. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Returns the entry that equals `entry`. While the segment exists, each call returns the same object. */
  same(entry: IndexEntry): IndexEntry | undefined {
    return this.#entries.get(keyOf(entry));
  }

  /**
   * Parses the next bytes of the file, and keeps an incomplete last line for the next call.
   * @param former an earlier index of the same process; equal lines reuse its entry objects
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
      `line ${Math.max(1, this.#lines)} of the index is not in Varnish's format`,
    );
  }
}

const locationOf = ({ file, offset }: IndexEntry): string => `${file} ${offset}`;

const keyOf = ({ file, offset, length, className, ident }: IndexEntry): string =>
  `${file} ${offset} ${length} ${className} ${ident}`;

/** This many bytes at the start of the file must not change. */
const START_BYTES = 64;

/** The file of an index. Varnish only appends to the file or replaces it. */
export class IndexFile {
  readonly #file: VerifiedFile;
  /** The parsed content of the file at the last `update`. */
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
   * Reads appended lines; returns whether the file had any.
   * @throws Fault SEGMENT_CORRUPT for an invalid line, or if the file changed other than by appending
   */
  update(): boolean {
    const { stamp } = this.#file;
    if (stamp === this.#stamp) return false;
    const { size } = this.#file;
    if (size < this.#bytes) throw new Fault('SEGMENT_CORRUPT', 'the index was truncated');
    if (size > LIMITS.indexBytes)
      throw new Fault(
        'SEGMENT_CORRUPT',
        `the index has ${size} bytes, allowed: at most ${LIMITS.indexBytes}`,
      );
    this.#checkStart();
    const added = Buffer.alloc(size - this.#bytes);
    const bytes = added.subarray(0, this.#file.read(added, this.#bytes));
    this.index.append(bytes, this.#former);
    if (this.#start.length < START_BYTES)
      this.#start = Buffer.concat([this.#start, bytes]).subarray(0, START_BYTES);
    this.#bytes += bytes.length;
    // Bytes that were appended during the read change the stamp, so the next update reads them.
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
      throw new Fault('SEGMENT_CORRUPT', 'the index was rewritten in place');
  }
}

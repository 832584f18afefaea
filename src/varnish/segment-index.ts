// The index of segments that a process of Varnish writes: its layout, its file, and the segments it lists.
import { Fault } from '../errors.js';
import { VerifiedFile } from '../foreign/verified-file.js';

/** Where each field of a segment's header stands; values are in the byte order of the machine. */
export const HEADER = { ready: 0, bodyOffset: 8, schemaId: 16, bytes: 24 } as const;

/** Whether a segment is shown, as its header says. */
export const READY = { building: 0, visible: 1, hidden: 2 } as const;

/** Each value is a number of so many bytes, at a multiple of them. */
export const VALUE_BYTES = 8;

export const LIMITS = {
  /** Bytes of an index, and of a line of it. */
  indexBytes: 2 ** 22,
  lineBytes: 1024,
  /** Segments of values, and of schemas, in a directory. */
  segments: 8192,
  schemas: 256,
  /** Files that are open at once for a directory, and the bytes of one. */
  files: 1024,
  fileBytes: 2 ** 26,
  /** Bytes of a schema, and the values that it describes. */
  schemaBytes: 2 ** 20,
  fields: 4096,
  /** Bytes of a segment of values. */
  bodyBytes: 2 ** 16,
} as const;

/** A segment in a file, as a line of the index has it. */
export interface IndexEntry {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly className: 'Stat' | 'StatDoc';
  /** What its values belong to, such as `VBE.boot.origin`; of a schema its id in hexadecimal digits. */
  readonly ident: string;
}

/** The process that writes an index. */
export interface IndexWriter {
  readonly pid: number;
  /** When it began to write, in Unix seconds. */
  readonly birth: number;
}

const FIRST_LINE = /^# (?<pid>[1-9]\d{0,9}) (?<birth>\d{1,12})$/;
/** Class and ident of a line may be empty: it then declares a file that holds several segments. */
const LINE =
  /^(?<sign>[+-]) (?<file>_\.[A-Za-z0-9_.-]{1,128}) (?<offset>\d{1,15}) (?<length>\d{1,15}) (?<className>\S*) (?<ident>.*)$/;
const LINE_FEED = 10;

export class SegmentIndex {
  readonly #entries = new Map<string, IndexEntry>();
  /** The lines of the entries by their places: one segment is in a place at a time. */
  readonly #places = new Map<string, string>();
  #writer: IndexWriter | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #lines = 0;
  #leftOut = 0;

  /** Undefined until its first line is whole. */
  get writer(): IndexWriter | undefined {
    return this.#writer;
  }

  /** Segments of values and schemas, in the order in which they came. */
  get entries(): Iterable<IndexEntry> {
    return this.#entries.values();
  }

  /** Segments that came after as many as are followed. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The present entry of the same line; an object for as long as the segment is there. */
  same(entry: IndexEntry): IndexEntry | undefined {
    return this.#entries.get(keyOf(entry));
  }

  /**
   * Takes in the bytes that follow the former ones; what comes behind the last line feed waits for more.
   * @param known has entries of the same process whose objects are used again for the same lines
   * @throws Fault SEGMENT_CORRUPT at a line that no Varnish writes
   */
  add(bytes: Uint8Array, known?: SegmentIndex): void {
    const all = Buffer.concat([this.#rest, bytes]);
    let start = 0;
    for (let end = all.indexOf(LINE_FEED); end >= 0; end = all.indexOf(LINE_FEED, start)) {
      if (end - start > LIMITS.lineBytes) throw this.#corrupt();
      this.#lines++;
      this.#take(all.toString('latin1', start, end), known);
      start = end + 1;
    }
    this.#rest = all.subarray(start);
    if (this.#rest.length > LIMITS.lineBytes) throw this.#corrupt();
  }

  #take(line: string, known: SegmentIndex | undefined): void {
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
    if (sign === '+') this.#add(known?.same(entry) ?? entry);
    else this.#remove(entry);
  }

  #add(entry: IndexEntry): void {
    if (this.#entries.size >= LIMITS.segments + LIMITS.schemas) {
      this.#leftOut++;
      return;
    }
    const key = keyOf(entry);
    const there = this.#places.get(placeOf(entry));
    if (there !== undefined && there !== key) throw this.#corrupt();
    this.#places.set(placeOf(entry), key);
    this.#entries.set(key, entry);
  }

  #remove(entry: IndexEntry): void {
    if (this.#entries.delete(keyOf(entry))) this.#places.delete(placeOf(entry));
    else if (this.#leftOut > 0) this.#leftOut--;
  }

  #corrupt(): Fault {
    return new Fault(
      'SEGMENT_CORRUPT',
      `line ${Math.max(1, this.#lines)} of the index is none of Varnish`,
    );
  }
}

const placeOf = ({ file, offset }: IndexEntry): string => `${file} ${offset}`;

const keyOf = ({ file, offset, length, className, ident }: IndexEntry): string =>
  `${file} ${offset} ${length} ${className} ${ident}`;

/** Bytes that are compared to see that it is still the same text. */
const BEGIN_BYTES = 64;

export class IndexFile {
  readonly #file: VerifiedFile;
  readonly #index = new SegmentIndex();
  readonly #known: SegmentIndex | undefined;
  #stamp = '';
  #bytes = 0;
  #begin: Buffer = Buffer.alloc(0);

  /**
   * Opens the index at a path, in a directory of this user.
   * @param known that of the former index of the directory, if the same process wrote it
   * @throws Fault or Error for a file that cannot be read or must not be believed
   */
  constructor(path: string, directoryUid: number, known?: SegmentIndex) {
    this.#file = new VerifiedFile(path, directoryUid, LIMITS.indexBytes);
    this.#known = known;
  }

  /** What it said at the last `update`. */
  get index(): SegmentIndex {
    return this.#index;
  }

  /** Whether it was removed, or another one took its place. */
  get isReplaced(): boolean {
    return this.#file.isUnlinked;
  }

  /**
   * Takes in what was added; returns whether anything was.
   * @throws Fault SEGMENT_CORRUPT if it was changed in another way, or holds what no Varnish writes
   */
  update(): boolean {
    const { stamp } = this.#file;
    if (stamp === this.#stamp) return false;
    const { size } = this.#file;
    if (size < this.#bytes) throw new Fault('SEGMENT_CORRUPT', 'the index was cut');
    if (size > LIMITS.indexBytes) throw new Fault('SEGMENT_CORRUPT', `the index has ${size} bytes`);
    this.#checkBegin();
    const added = Buffer.alloc(size - this.#bytes);
    const bytes = added.subarray(0, this.#file.read(added, this.#bytes));
    this.#index.add(bytes, this.#known);
    if (this.#begin.length < BEGIN_BYTES)
      this.#begin = Buffer.concat([this.#begin, bytes]).subarray(0, BEGIN_BYTES);
    this.#bytes += bytes.length;
    // What came meanwhile has another stamp.
    this.#stamp = stamp;
    return bytes.length > 0;
  }

  close(): void {
    this.#file.close();
  }

  #checkBegin(): void {
    const begin = Buffer.alloc(this.#begin.length);
    const bytes = this.#file.read(begin, 0);
    if (!begin.subarray(0, bytes).equals(this.#begin))
      throw new Fault('SEGMENT_CORRUPT', 'the index was written anew in its place');
  }
}

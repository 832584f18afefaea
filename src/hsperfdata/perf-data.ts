// The counters of one JVM, read from its file again and again.
import type { CounterFile } from './counter-file.js';
import { LIMITS } from './layout.js';
import { mainClassOf } from './main-class.js';
import { readEntries } from './perf-entries.js';
import type { PerfEntry, Position } from './perf-entries.js';
import type { PerfHeader } from './perf-header.js';
import { Skeleton } from './skeleton.js';

/** When a JVM began, in Unix milliseconds: it differs from that of another one in the same file. */
const BEGAN = 'sun.rt.createVmBeginTime';
const FREQUENCY = 'sun.os.hrt.frequency';
/** The class and arguments of the program. Only the class may be shown. */
const COMMAND = 'sun.rt.javaCommand';
/** A JVM writes it before the command. */
const CLASS_PATH = 'java.property.java.class.path';

/** Most bytes that are read of either of these. */
const LONGEST_COMMAND = 4096;

/** Memory for one copy of a file, which all files share. */
export interface Scratch {
  buffer: Buffer;
}

export class PerfData {
  readonly file: CounterFile;
  readonly #scratch: Scratch;
  readonly #names = new Map<string, PerfEntry>();
  #header: PerfHeader;
  #next: Position;
  #skeleton: Skeleton;
  readonly #began: bigint | undefined;
  readonly frequency: bigint | undefined;
  /** The main class or jar; undefined until the JVM has written it. */
  readonly mainClass: string | undefined;
  #hasNews = false;
  #overflow = 0;

  /**
   * Reads a file; undefined while its JVM has not finished the first counters.
   * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE for what no JVM writes
   */
  static of(file: CounterFile, scratch: Scratch): PerfData | undefined {
    const read = file.read(scratch);
    return read && new PerfData(file, scratch, read.header, read.bytes);
  }

  private constructor(file: CounterFile, scratch: Scratch, header: PerfHeader, bytes: Buffer) {
    this.file = file;
    this.#scratch = scratch;
    this.#header = header;
    this.#next = { at: header.entryOffset, count: 0 };
    this.#skeleton = new Skeleton(bytes, []);
    this.#take(header, bytes);
    this.#began = this.#long(bytes, BEGAN);
    this.frequency = this.#long(bytes, FREQUENCY);
    const [command, classPath] = [COMMAND, CLASS_PATH].map((name) => {
      const entry = this.#names.get(name);
      return entry && this.text(bytes, entry, LONGEST_COMMAND);
    });
    this.mainClass = command === undefined ? undefined : mainClassOf(command, classPath);
  }

  get beganUnixMs(): number | undefined {
    return this.#began === undefined ? undefined : Number(this.#began);
  }

  /** Those that are known, by name; of several with one name the first. */
  get entries(): ReadonlyMap<string, PerfEntry> {
    return this.#names;
  }

  get isLittleEndian(): boolean {
    return this.#header.isLittleEndian;
  }

  /** Whether the last copy showed entries that are not taken in yet. */
  get hasNews(): boolean {
    return this.#hasNews;
  }

  /** Bytes of counters for which the file has no room. */
  get overflow(): number {
    return this.#overflow;
  }

  /**
   * A copy of the file that holds the same JVM's counters at the same offsets, valid until the next copy
   * of any file; undefined if there is none.
   */
  read(): Buffer | undefined {
    const copy = this.#copy();
    if (copy === undefined) return undefined;
    const { entries, modified, overflow } = copy.header;
    this.#overflow = overflow;
    this.#hasNews = entries > this.#next.count || modified !== this.#header.modified;
    return copy.bytes;
  }

  /** Takes in the entries that came since, as far as they are whole; undefined if the JVM is gone. */
  grow(): readonly PerfEntry[] | undefined {
    const copy = this.#copy();
    if (copy === undefined) return undefined;
    const known = this.#names.size;
    this.#take(copy.header, copy.bytes);
    return [...this.#names.values()].slice(known);
  }

  /** The text of an entry in a copy, of so many bytes at most. */
  text(bytes: Buffer, { valueAt, valueBytes }: PerfEntry, most: number = LIMITS.text): string {
    const value = bytes.subarray(valueAt, valueAt + Math.min(valueBytes, most));
    const end = value.indexOf(0);
    return value.toString('utf8', 0, end < 0 ? value.length : end);
  }

  #copy(): { readonly header: PerfHeader; readonly bytes: Buffer } | undefined {
    const copy = this.file.read(this.#scratch);
    if (copy?.header.isLittleEndian !== this.isLittleEndian) return undefined;
    const isSame = this.#skeleton.isIn(copy.bytes) && this.#long(copy.bytes, BEGAN) === this.#began;
    return isSame ? copy : undefined;
  }

  #take(header: PerfHeader, bytes: Buffer): void {
    const { entries, next } = readEntries(bytes, header, this.#next);
    for (const entry of entries)
      if (!this.#names.has(entry.name)) this.#names.set(entry.name, entry);
    this.#header = header;
    this.#next = next;
    this.#hasNews = false;
    if (entries.length > 0) this.#skeleton = new Skeleton(bytes, [...this.#names.values()]);
  }

  #long(bytes: Buffer, name: string): bigint | undefined {
    const entry = this.#names.get(name);
    if (entry?.type !== 'long') return undefined;
    const { valueAt } = entry;
    return this.isLittleEndian ? bytes.readBigInt64LE(valueAt) : bytes.readBigInt64BE(valueAt);
  }
}

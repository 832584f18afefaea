// The counters of one JVM, read from its file again and again.
import type { Declaration, VariableKind } from '../model.js';
import type { CounterFile } from './counter-file.js';
import { LIMITS, UNIT, VARIABILITY, readEntries } from './perf-entries.js';
import type { PerfEntry, PerfHeader, Position } from './perf-entries.js';

// What a JVM runs, short enough for a label.
const LONGEST = 128;

/**
 * The main class, or the file of a jar, of a command; empty where there is none. Arguments follow the
 * first blank, and a module or folder goes before the last slash: neither is shown.
 * @param classPath with -jar, the path of the jar, which starts the command and may contain blanks
 */
function mainClassOf(command: string, classPath = ''): string {
  const isJar = classPath !== '' && `${command} `.startsWith(`${classPath} `);
  const [first = ''] = isJar ? [classPath] : command.trim().split(/\s/, 1);
  const last = first.slice(first.lastIndexOf('/') + 1);
  return last.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, LONGEST);
}

/**
 * A JVM never changes an entry, so values read at the old offsets are those of the old names as long as
 * all entries are the same. A new JVM may begin anew in the same file at any moment.
 */
class Skeleton {
  readonly #bytes: Int32Array;
  readonly #mask: Int32Array;

  /** @param bytes from which the entries were read, up to a multiple of 4 */
  constructor(bytes: Buffer, entries: readonly PerfEntry[]) {
    const mask = new Uint8Array(bytes.length - (bytes.length % 4));
    for (const { start, end, valueAt, valueBytes } of entries) {
      mask.fill(0xff, start, end);
      mask.fill(0, valueAt, valueAt + valueBytes);
    }
    this.#mask = new Int32Array(mask.buffer);
    this.#bytes = new Int32Array(Uint8Array.from(bytes.subarray(0, mask.length)).buffer);
  }

  /** Whether these bytes hold the same entries, at least. */
  isIn(bytes: Buffer): boolean {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    if (words.length < this.#mask.length) return false;
    for (let at = 0; at < this.#mask.length; at++)
      if ((((words[at] ?? 0) ^ (this.#bytes[at] ?? 0)) & (this.#mask[at] ?? 0)) !== 0) return false;
    return true;
  }
}

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
interface CopyBuffer {
  buffer: Buffer;
}

export class PerfData {
  readonly file: CounterFile;
  readonly #scratch: CopyBuffer;
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
  static of(file: CounterFile, scratch: CopyBuffer): PerfData | undefined {
    const read = file.read(scratch);
    return read && new PerfData(file, scratch, read.header, read.bytes);
  }

  private constructor(file: CounterFile, scratch: CopyBuffer, header: PerfHeader, bytes: Buffer) {
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

/** Counters whose entries state a unit that is not theirs. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['sun.cls.defineAppClasses', UNIT.events],
  ['sun.ci.threads', UNIT.none],
]);

/** Units of the values as they are shown: ticks become nanoseconds. */
const UNIT_TEXTS: Readonly<Record<number, string>> = {
  [UNIT.bytes]: 'bytes',
  [UNIT.ticks]: 'nanoseconds',
  [UNIT.hertz]: 'hertz',
};

/** The unit of a counter, one of `UNIT` or another number. */
export const unitOf = ({ name, unit }: PerfEntry): number => UNITS.get(name) ?? unit;

/** A variable of this name; a number has the type that is given. */
export function declarationOf(
  entry: PerfEntry,
  variable: string,
  number: 'i64' | 'f64',
): Declaration {
  const isText = entry.type === 'text';
  return {
    name: variable,
    type: isText ? 'string' : number,
    kind: isText ? 'unknown' : kindOf(entry.variability),
    unit: isText ? '' : (UNIT_TEXTS[unitOf(entry)] ?? ''),
    help: '',
    schema: [],
  };
}

function kindOf(variability: number): VariableKind {
  if (variability === VARIABILITY.monotonic) return 'counter';
  return variability === VARIABILITY.variable || variability === VARIABILITY.constant
    ? 'gauge'
    : 'unknown';
}

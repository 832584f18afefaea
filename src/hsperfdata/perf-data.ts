// Reads the counters of one JVM from its file.
import type { Declaration, VariableKind } from '../model.js';
import type { CounterFile } from './counter-file.js';
import { LIMITS, UNIT, VARIABILITY, readEntries } from './perf-entries.js';
import type { PerfEntry, PerfHeader, Position } from './perf-entries.js';

/** The maximum number of characters of the name of a main class. */
const MAX_CLASS_NAME = 128;

/**
 * Returns the name of the main class or jar file of a command; empty if it has none. Drops the arguments (all text
 * after the first blank) and the module or directory (all text before the last slash).
 * @param classPath with -jar, the path of the jar; the command starts with it, and it may contain blanks
 */
function mainClassOf(command: string, classPath = ''): string {
  const isJar = classPath !== '' && `${command} `.startsWith(`${classPath} `);
  const [first = ''] = isJar ? [classPath] : command.trim().split(/\s/, 1);
  const last = first.slice(first.lastIndexOf('/') + 1);
  return last.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, MAX_CLASS_NAME);
}

/**
 * The bytes of a file's entries without their values. As long as these bytes are unchanged, the known offsets are
 * valid: a JVM never changes its entries, but a new JVM may reuse the file at any moment.
 */
class EntryImage {
  readonly #bytes: Int32Array;
  readonly #mask: Int32Array;

  constructor(bytes: Buffer, entries: readonly PerfEntry[]) {
    const mask = new Uint8Array(bytes.length - (bytes.length % 4));
    for (const { start, end, valueAt, valueBytes } of entries) {
      mask.fill(0xff, start, end);
      mask.fill(0, valueAt, valueAt + valueBytes);
    }
    this.#mask = new Int32Array(mask.buffer);
    this.#bytes = new Int32Array(Uint8Array.from(bytes.subarray(0, mask.length)).buffer);
  }

  /** Whether a copy of the file has the same entries. */
  isIn(bytes: Buffer): boolean {
    const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    if (words.length < this.#mask.length) return false;
    for (let at = 0; at < this.#mask.length; at++)
      if ((((words[at] ?? 0) ^ (this.#bytes[at] ?? 0)) & (this.#mask[at] ?? 0)) !== 0) return false;
    return true;
  }
}

/** The start time of the JVM in Unix milliseconds. It distinguishes JVMs that use the same file. */
const START_TIME = 'sun.rt.createVmBeginTime';
const FREQUENCY = 'sun.os.hrt.frequency';
/** The main class and its arguments. Only the class may be exported. */
const COMMAND = 'sun.rt.javaCommand';
/** The class path. The JVM writes it before the command. */
const CLASS_PATH = 'java.property.java.class.path';

/** The maximum number of bytes to read of the command and of the class path. */
const MAX_COMMAND = 4096;

/** Memory for a copy of a file, shared by all files. */
interface CopyBuffer {
  buffer: Buffer;
}

export class PerfData {
  readonly file: CounterFile;
  readonly #scratch: CopyBuffer;
  readonly #entries = new Map<string, PerfEntry>();
  #header: PerfHeader;
  #next: Position;
  #image: EntryImage;
  readonly #startTime: bigint | undefined;
  readonly frequency: bigint | undefined;
  /** The main class or jar file; undefined until the JVM has written it. */
  readonly mainClass: string | undefined;
  #hasNewEntries = false;
  #overflow = 0;

  /**
   * Reads a file; undefined until its JVM has written the first counters.
   * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE for content that no JVM writes
   */
  static of(file: CounterFile, scratch: CopyBuffer): PerfData | undefined {
    const read = file.copy(scratch);
    return read && new PerfData(file, scratch, read.header, read.bytes);
  }

  private constructor(file: CounterFile, scratch: CopyBuffer, header: PerfHeader, bytes: Buffer) {
    this.file = file;
    this.#scratch = scratch;
    this.#header = header;
    this.#next = { at: header.entryOffset, count: 0 };
    this.#image = new EntryImage(bytes, []);
    this.#take(header, bytes);
    this.#startTime = this.#long(bytes, START_TIME);
    this.frequency = this.#long(bytes, FREQUENCY);
    const [command, classPath] = [COMMAND, CLASS_PATH].map((name) => {
      const entry = this.#entries.get(name);
      return entry && this.text(bytes, entry, MAX_COMMAND);
    });
    this.mainClass = command === undefined ? undefined : mainClassOf(command, classPath);
  }

  /** Whether the JVM wrote its main class after the first read. */
  get isNamedLate(): boolean {
    return this.mainClass === undefined && this.#entries.has(COMMAND);
  }

  get jvmStartUnixMs(): number | undefined {
    return this.#startTime === undefined ? undefined : Number(this.#startTime);
  }

  /** The known entries by name. Of several entries with the same name, the first is used. */
  get entries(): ReadonlyMap<string, PerfEntry> {
    return this.#entries;
  }

  get isLittleEndian(): boolean {
    return this.#header.isLittleEndian;
  }

  /** Whether the last copy had entries that have not been read yet. */
  get hasNewEntries(): boolean {
    return this.#hasNewEntries;
  }

  /** The bytes of counters that did not fit in the file. */
  get overflow(): number {
    return this.#overflow;
  }

  /**
   * Copies the file; undefined if the file no longer has the counters of this JVM at the known offsets. The copy is
   * valid until the next copy of any file.
   */
  read(): Buffer | undefined {
    const copy = this.#copy();
    if (copy === undefined) return undefined;
    const { entries, modified, overflow } = copy.header;
    this.#overflow = overflow;
    this.#hasNewEntries = entries > this.#next.count || modified !== this.#header.modified;
    return copy.bytes;
  }

  /** Reads the complete entries that the JVM added since the last call; undefined if the JVM is gone. */
  readNewEntries(): readonly PerfEntry[] | undefined {
    const copy = this.#copy();
    if (copy === undefined) return undefined;
    const known = this.#entries.size;
    this.#take(copy.header, copy.bytes);
    return [...this.#entries.values()].slice(known);
  }

  /** The text of an entry in a copy of the file, truncated to `maxBytes`. */
  text(bytes: Buffer, { valueAt, valueBytes }: PerfEntry, maxBytes: number = LIMITS.text): string {
    const value = bytes.subarray(valueAt, valueAt + Math.min(valueBytes, maxBytes));
    const end = value.indexOf(0);
    return value.toString('utf8', 0, end < 0 ? value.length : end);
  }

  #copy(): { readonly header: PerfHeader; readonly bytes: Buffer } | undefined {
    const copy = this.file.copy(this.#scratch);
    if (copy?.header.isLittleEndian !== this.isLittleEndian) return undefined;
    const isSame =
      this.#image.isIn(copy.bytes) && this.#long(copy.bytes, START_TIME) === this.#startTime;
    return isSame ? copy : undefined;
  }

  #take(header: PerfHeader, bytes: Buffer): void {
    const { entries, next } = readEntries(bytes, header, this.#next);
    for (const entry of entries)
      if (!this.#entries.has(entry.name)) this.#entries.set(entry.name, entry);
    this.#header = header;
    this.#next = next;
    this.#hasNewEntries = false;
    if (entries.length > 0) this.#image = new EntryImage(bytes, [...this.#entries.values()]);
  }

  #long(bytes: Buffer, name: string): bigint | undefined {
    const entry = this.#entries.get(name);
    if (entry?.type !== 'long') return undefined;
    const { valueAt } = entry;
    return this.isLittleEndian ? bytes.readBigInt64LE(valueAt) : bytes.readBigInt64BE(valueAt);
  }
}

/** The right units of counters whose entries state a wrong unit. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['sun.cls.defineAppClasses', UNIT.events],
  ['sun.ci.threads', UNIT.none],
]);

/** The names of units in the tree. Ticks are converted to nanoseconds. */
const UNIT_TEXTS: Readonly<Record<number, string>> = {
  [UNIT.bytes]: 'bytes',
  [UNIT.ticks]: 'nanoseconds',
  [UNIT.hertz]: 'hertz',
};

/** The unit of a counter: one of `UNIT`, or an unknown number. */
export const unitOf = ({ name, unit }: PerfEntry): number => UNITS.get(name) ?? unit;

/**
 * Makes the declaration of a counter's variable.
 * @param number the type of the variable if the counter is a number; ignored for a text
 */
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

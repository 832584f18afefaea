// Opens and copies a counter file, and detects changes between two reads.
import { createHash } from 'node:crypto';
import { VerifiedFile } from '../foreign/verified-file.js';
import { HEADER, LIMITS, corrupt, readPerfHeader } from './perf-entries.js';
import type { PerfHeader } from './perf-entries.js';

/** The number of bytes at the start of a file that `digest` reads. They include the JVM's clock, which always changes. */
const DIGESTED_BYTES = 65_536;

/**
 * A counter file, open for reading and never locked. If a JVM finds its file locked when it starts, it disables
 * shared counters.
 */
export class CounterFile extends VerifiedFile {
  #sizeAtCopy = 0;

  /** @throws Fault NATIVE_FAILED or Error like `VerifiedFile` */
  constructor(path: string, directoryUid: number) {
    super(path, directoryUid, LIMITS.bytes);
  }

  /**
   * Copies header and entries; undefined while the JVM has not finished them. The bytes are aligned to 8 in memory, and
   * valid until the next copy into `into`.
   * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE for content that no JVM writes
   */
  copy(into: {
    buffer: Buffer;
  }): { readonly header: PerfHeader; readonly bytes: Buffer } | undefined {
    this.#sizeAtCopy = this.size;
    const first = this.#header();
    if (first === undefined) return undefined;
    const { used } = first;
    if (into.buffer.length < used) into.buffer = Buffer.from(new ArrayBuffer(roundedUp(used)));
    const bytes = into.buffer.subarray(0, used);
    if (this.read(bytes, 0) < used) throw corrupt('was truncated while the exporter read it');
    // A new JVM that takes over the file fills it with zeros first. The second header shows whether that happened.
    const last = this.#header();
    return last === undefined || last.used < used ? undefined : { header: first, bytes };
  }

  /** A digest of the first bytes of the file. A running JVM changes them several times a second. */
  digest(): string {
    const bytes = Buffer.alloc(DIGESTED_BYTES);
    const read = this.read(bytes, 0);
    return createHash('sha1').update(bytes.subarray(0, read)).digest('base64');
  }

  #header(): PerfHeader | undefined {
    const bytes = Buffer.alloc(HEADER.bytes);
    const read = this.read(bytes, 0);
    return readPerfHeader(bytes.subarray(0, read), this.#sizeAtCopy);
  }
}

const roundedUp = (bytes: number): number => 2 ** Math.ceil(Math.log2(Math.max(bytes, 4096)));

/** The maximum number of files whose first digest is stored. */
const MAX_FILES = 64;

/** Detects changes of files: compares two digests of each file. */
export class ChangeDetector {
  /** The first digest of each file, by file name, until the second digest arrives. */
  readonly #first = new Map<string, string>();

  /** Whether a first digest can be stored now. If not, the file waits until another file has its second digest. */
  hasRoom(name: string): boolean {
    return this.#first.has(name) || this.#first.size < MAX_FILES;
  }

  /** Whether a file changed since its first digest; undefined if `digest` is the first one. */
  changed(name: string, digest: string): boolean | undefined {
    const first = this.#first.get(name);
    if (first === undefined) this.#first.set(name, digest);
    else this.#first.delete(name);
    return first === undefined ? undefined : digest !== first;
  }

  forget(name: string): void {
    this.#first.delete(name);
  }
}

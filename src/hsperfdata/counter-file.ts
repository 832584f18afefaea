// A counter file, open for reading. Nothing is written, mapped or locked: a JVM that finds its file locked when
// it starts gives up shared counters for its whole life.
import { createHash } from 'node:crypto';
import { VerifiedFile } from '../foreign/verified-file.js';
import { HEADER, LIMITS, corrupt, readPerfHeader } from './perf-entries.js';
import type { PerfHeader } from './perf-entries.js';

/** So many bytes hold a counter that always changes: a JVM has its clock among its first ones. */
const DIGESTED_BYTES = 65_536;

export class CounterFile {
  readonly #file: VerifiedFile;
  #size = 0;

  /**
   * Opens a file that belongs to the owner of its directory.
   * @throws Fault NATIVE_FAILED for one that is no such file, or that somebody else may write
   */
  constructor(path: string, directoryUid: number) {
    this.#file = new VerifiedFile(path, directoryUid, LIMITS.bytes);
  }

  get identity(): VerifiedFile['identity'] {
    return this.#file.identity;
  }

  /** Whether the file has its name no more. */
  get isUnlinked(): boolean {
    return this.#file.isUnlinked;
  }

  /**
   * Header and entries as they are now; undefined while the JVM has not finished them. The bytes begin
   * at a multiple of 8 in memory, and are valid until `into` is used again.
   * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE for what no JVM writes
   */
  read(into: {
    buffer: Buffer;
  }): { readonly header: PerfHeader; readonly bytes: Buffer } | undefined {
    this.#size = this.#file.size;
    const first = this.#header();
    if (first === undefined) return undefined;
    const { used } = first;
    if (into.buffer.length < used) into.buffer = Buffer.from(new ArrayBuffer(roundedUp(used)));
    const bytes = into.buffer.subarray(0, used);
    if (this.#file.read(bytes, 0) < used) throw corrupt('was cut while it was read');
    // A new JVM that begins in the same file meanwhile makes it a file of zeros first.
    const last = this.#header();
    return last === undefined || last.used < used ? undefined : { header: first, bytes };
  }

  /** A digest of the first bytes of the file, which a running JVM changes several times a second. */
  digest(): string {
    const bytes = Buffer.alloc(DIGESTED_BYTES);
    const read = this.#file.read(bytes, 0);
    return createHash('sha1').update(bytes.subarray(0, read)).digest('base64');
  }

  close(): void {
    this.#file.close();
  }

  #header(): PerfHeader | undefined {
    const bytes = Buffer.alloc(HEADER.bytes);
    const read = this.#file.read(bytes, 0);
    return readPerfHeader(bytes.subarray(0, read), this.#size);
  }
}

const roundedUp = (bytes: number): number => 2 ** Math.ceil(Math.log2(Math.max(bytes, 4096)));

/** Most files whose first digest is kept. */
const MAX_FILES = 64;

/** Compares each two successive digests of a file. */
export class ChangeDetector {
  /** The first of the two digests, by file name. */
  readonly #first = new Map<string, string>();

  /** Whether a file can be compared now. If not, it must wait for the second digest of another file. */
  hasRoom(name: string): boolean {
    return this.#first.has(name) || this.#first.size < MAX_FILES;
  }

  /** Whether a file changed since the last call; undefined for the first of two calls. */
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

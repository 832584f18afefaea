// A counter file, open for reading. Nothing is written, mapped or locked: a JVM that finds its file locked when
// it starts gives up shared counters for its whole life.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Fault } from '../errors.js';
import { HEADER, LIMITS } from './layout.js';
import { corrupt, readPerfHeader } from './perf-header.js';
import type { PerfHeader } from './perf-header.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Writable by the group or by others. */
const OTHERS_WRITE = 0o022;

export interface FileIdentity {
  /** Device and inode. */
  readonly key: string;
  readonly inode: bigint;
  readonly uid: number;
}

export class CounterFile {
  readonly identity: FileIdentity;
  readonly #fd: number;
  #size = 0;

  /**
   * Opens a file that belongs to the owner of its directory.
   * @throws Fault NATIVE_FAILED for one that is no such file, or that somebody else may write
   */
  constructor(path: string, directoryUid: number) {
    this.#fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      this.identity = this.#checked(directoryUid);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether the file has its name no more. */
  get isUnlinked(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  /**
   * Header and entries as they are now; undefined while the JVM has not finished them. The bytes begin
   * at a multiple of 8 in memory, and are valid until `into` is used again.
   * @throws Fault SEGMENT_CORRUPT or SEGMENT_INCOMPATIBLE for what no JVM writes
   */
  read(into: {
    buffer: Buffer;
  }): { readonly header: PerfHeader; readonly bytes: Buffer } | undefined {
    this.#size = fstatSync(this.#fd).size;
    const first = this.#header();
    if (first === undefined) return undefined;
    const { used } = first;
    if (into.buffer.length < used) into.buffer = Buffer.from(new ArrayBuffer(roundedUp(used)));
    const bytes = into.buffer.subarray(0, used);
    if (readSync(this.#fd, bytes, 0, used, 0) < used) throw corrupt('was cut while it was read');
    // A new JVM that begins in the same file meanwhile makes it a file of zeros first.
    const last = this.#header();
    return last === undefined || last.used < used ? undefined : { header: first, bytes };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #header(): PerfHeader | undefined {
    const bytes = Buffer.alloc(HEADER.bytes);
    const read = readSync(this.#fd, bytes, 0, HEADER.bytes, 0);
    return readPerfHeader(bytes.subarray(0, read), this.#size);
  }

  #checked(directoryUid: number): FileIdentity {
    const stat = fstatSync(this.#fd, { bigint: true });
    const uid = Number(stat.uid);
    if (!stat.isFile()) throw refused('is no regular file');
    if (stat.nlink !== 1n) throw refused(`has ${stat.nlink} names`);
    if (uid !== directoryUid)
      throw refused(`belongs to user ${uid}, its directory to ${directoryUid}`);
    if ((Number(stat.mode) & OTHERS_WRITE) !== 0) throw refused('may be written by others');
    if (stat.size > LIMITS.bytes) throw refused(`has ${stat.size} bytes`);
    return { key: `${stat.dev}:${stat.ino}`, inode: stat.ino, uid };
  }
}

const refused = (what: string): Fault => new Fault('NATIVE_FAILED', what);

const roundedUp = (bytes: number): number => 2 ** Math.ceil(Math.log2(Math.max(bytes, 4096)));

// A file of another program, open for reading and checked before anything of it is believed.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Fault } from '../errors.js';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Writable by the group or by others. */
export const OTHERS_WRITE = 0o022;

export interface FileIdentity {
  /** Device and inode. */
  readonly key: string;
  readonly inode: bigint;
  readonly uid: number;
}

/** Nothing is written, mapped or locked: a program may give up a file that it finds locked. */
export class CheckedFile {
  readonly identity: FileIdentity;
  readonly #fd: number;

  /**
   * Opens a regular file with one name that belongs to the owner of its directory.
   * @throws Fault NATIVE_FAILED for one that is no such file, that somebody else may write, or that has
   *   more bytes than this; an Error where it cannot be opened
   */
  constructor(path: string, directoryUid: number, maxBytes: number) {
    this.#fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      this.identity = this.#checked(directoryUid, maxBytes);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether the file has its name no more. */
  get isUnlinked(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  /** Differs after a write, a cut, and the loss of its name. */
  get stamp(): string {
    const { size, mtimeNs, ctimeNs, nlink } = fstatSync(this.#fd, { bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs} ${nlink}`;
  }

  get size(): number {
    return fstatSync(this.#fd).size;
  }

  /** Copies what the file has from this position on; returns the number of bytes. */
  read(into: Uint8Array, position: number): number {
    return readSync(this.#fd, into, 0, into.length, position);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #checked(directoryUid: number, maxBytes: number): FileIdentity {
    const stat = fstatSync(this.#fd, { bigint: true });
    const uid = Number(stat.uid);
    if (!stat.isFile()) throw refused('is no regular file');
    if (stat.nlink !== 1n) throw refused(`has ${stat.nlink} names`);
    if (uid !== directoryUid)
      throw refused(`belongs to user ${uid}, its directory to ${directoryUid}`);
    if ((Number(stat.mode) & OTHERS_WRITE) !== 0) throw refused('may be written by others');
    if (stat.size > maxBytes) throw refused(`has ${stat.size} bytes`);
    return { key: `${stat.dev}:${stat.ino}`, inode: stat.ino, uid };
  }
}

const refused = (what: string): Fault => new Fault('NATIVE_FAILED', what);

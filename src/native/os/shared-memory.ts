// The interface to shared memory, and files that are open for reading.
import {
  close,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { Fault, messageOf } from '../../errors.js';

/** What a name refers to, seen from a file that was opened under it. */
export type NameHolder = 'this' | 'another' | 'none';

/** Who may have written a file. */
export interface Ownership {
  readonly uid: number;
  readonly isWritableByAll: boolean;
}

/** One segment file, open for reading. `read` copies, so the publisher cannot crash us. */
export interface SegmentFile {
  /** Identifies the file among all that had or will have its name. */
  readonly identity: string;
  /** When it was opened. */
  readonly ownership: Ownership;
  /** Copies up to `length` bytes from `position`; returns how many were copied. */
  read(into: Uint8Array, length: number, position: number): number;
  /** Size of the file now, in bytes. */
  size(): number;
  /** What the name refers to now; `none` once the file is closed. */
  nameHolder(): NameHolder;
  /**
   * Checks whether a publisher holds the lock, without taking it. The answer may arrive later, and
   * never once the file is closed.
   * @throws Fault NATIVE_FAILED if the system call fails
   */
  askLock(answer: (isLocked: boolean) => void): void;
  /**
   * Calls back once when the 4-byte word at `position` of the header page is not `expected` any
   * more. This is best effort, since the caller also polls. Returns a function that ends the wait
   * early.
   */
  wait(position: number, expected: number, moved: () => void): () => void;
  close(): void;
}

export interface SharedMemory {
  /**
   * The segment of that name; undefined if it does not exist.
   * @throws Fault NATIVE_FAILED if it exists and cannot be opened
   */
  open(name: string): SegmentFile | undefined;
}

/** Where Linux keeps POSIX shared memory objects. */
export const SHM_FOLDER = '/dev/shm';

export interface ReadableFile extends Pick<
  SegmentFile,
  'identity' | 'ownership' | 'read' | 'size' | 'nameHolder' | 'close'
> {
  readonly isOpen: boolean;
  readonly fd: number;
}

/**
 * Opens the segment of that name for reading; undefined if it does not exist.
 * @throws Fault NATIVE_FAILED if it exists and cannot be opened
 */
export function openReadable(name: string): ReadableFile | undefined {
  const path = `${SHM_FOLDER}/${name}`;
  const fd = openForReading(path);
  if (fd === undefined) return undefined;
  const opened = fstatSync(fd);
  const { dev, ino, uid, mode } = opened;
  if (!opened.isFile()) {
    closeSync(fd);
    throw new Fault('NATIVE_FAILED', `${path} is not a regular file`);
  }
  let isOpen = true;
  return {
    fd,
    identity: `${dev}:${ino}`,
    ownership: { uid, isWritableByAll: (mode & constants.S_IWOTH) !== 0 },
    get isOpen() {
      return isOpen;
    },
    read: (into, length, position) => (isOpen ? readSync(fd, into, 0, length, position) : 0),
    size: () => (isOpen ? fstatSync(fd).size : 0),
    nameHolder() {
      const named = isOpen ? statSync(path, { throwIfNoEntry: false }) : undefined;
      if (named === undefined) return 'none';
      // While it is open, no other file gets its inode number.
      return named.ino === ino && named.dev === dev ? 'this' : 'another';
    },
    close() {
      // In another thread: whoever closes a removed file last waits until the system freed it.
      if (isOpen) close(fd, () => undefined);
      isOpen = false;
    },
  };
}

function openForReading(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return undefined;
    throw new Fault('NATIVE_FAILED', whyNotOpened(path, code, error), { cause: error });
  }
}

/** The facts of a file or link; undefined if the system refuses them. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function whyNotOpened(path: string, code: unknown, error: unknown): string {
  const stats = code === 'EACCES' ? statOf(path) : undefined;
  if (stats !== undefined) {
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    return `Segment ${path} exists, but this process may not read it (EACCES): it belongs to user ${stats.uid}, group ${stats.gid}, and has mode ${mode}`;
  }
  // O_NOFOLLOW: there need be no loop.
  if (code === 'ELOOP') return `${path} is a link, which no segment is (ELOOP)`;
  return `Cannot open ${path}: ${messageOf(error)}`;
}

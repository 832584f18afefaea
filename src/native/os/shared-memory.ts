// The interface to shared memory, and a function that opens segment files for reading.
import { close, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { Fault, messageOf } from '../../errors.js';

/** Whether a name still refers to the file that was opened under it, now to another file, or to none. */
export type NameState = 'kept' | 'replaced' | 'removed';

/** The owner of a file, and whether all users may write to it. */
export interface Ownership {
  readonly uid: number;
  readonly isWritableByAll: boolean;
}

/**
 * A segment file, open for reading. `read` copies bytes without mapping them, so the publisher cannot crash this
 * process.
 */
export interface SegmentFile {
  /** Device and inode. */
  readonly identity: string;
  /** Owner and mode when the file was opened. */
  readonly ownership: Ownership;
  /** Copies up to `length` bytes from `position`; returns how many. */
  read(into: Uint8Array, length: number, position: number): number;
  /** The current size in bytes. */
  size(): number;
  /** The state of the name now; `removed` once this file is closed. */
  nameState(): NameState;
  /**
   * Checks whether a publisher holds the lock, without taking it. The answer may arrive later; it never arrives after
   * `close()`.
   * @throws Fault NATIVE_FAILED if the system call fails
   */
  askLock(answer: (isLocked: boolean) => void): void;
  /**
   * Calls back once when the 4-byte word at `position` of the header page differs from `expected`. The call may
   * never come, so callers also poll. Returns a function that ends the wait.
   */
  wait(position: number, expected: number, onChange: () => void): () => void;
  close(): void;
}

export interface SharedMemory {
  /**
   * Opens a segment; undefined if it does not exist.
   * @throws Fault NATIVE_FAILED if it exists and cannot be opened
   */
  open(name: string): SegmentFile | undefined;
}

/** Where Linux keeps POSIX shared memory objects. */
export const SHM_FOLDER = '/dev/shm';

export interface ReadableFile extends Pick<
  SegmentFile,
  'identity' | 'ownership' | 'read' | 'size' | 'nameState' | 'close'
> {
  readonly isOpen: boolean;
  readonly fd: number;
}

/**
 * Opens a segment's file for reading; undefined if it does not exist.
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
    nameState() {
      const named = isOpen ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
      if (named === undefined) return 'removed';
      // While the file is open, no other file gets its inode number.
      return named.ino === ino && named.dev === dev ? 'kept' : 'replaced';
    },
    close() {
      // Closes on another thread, since the last close of a removed file blocks until the system has freed the file.
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
  // With O_NOFOLLOW, ELOOP means a symbolic link.
  if (code === 'ELOOP') return `${path} is a symbolic link, not a segment (ELOOP)`;
  return `Cannot open ${path}: ${messageOf(error)}`;
}

// The interface to the system: segments by name, open for reading. posix.ts implements it.

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

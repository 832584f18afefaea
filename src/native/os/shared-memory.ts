// The seam to the system: segments by name, open for reading. posix.ts is the real one.

/** What a name refers to, seen from a file that was opened under it. */
export type NameHolder = 'this' | 'another' | 'none';

/** One segment file, open for reading. `read` copies, so nothing the publisher does can hurt us. */
export interface SegmentFile {
  /** Tells the file from every other that had or will have its name. */
  readonly identity: string;
  /** Copies up to `length` bytes from `position`; returns how many there were. */
  read(into: Uint8Array, length: number, position: number): number;
  /** Size of the file now, in bytes. */
  size(): number;
  /** Whether the name still refers to this very file; `none` once the file is closed. */
  nameHolder(): NameHolder;
  /**
   * Asks whether a publisher holds its lock; asking takes nothing. The answer may come later, and
   * never once the file is closed.
   * @throws Fault NATIVE_FAILED when the system refuses to tell
   */
  askLock(answer: (isLocked: boolean) => void): void;
  /**
   * Calls back once when the 4-byte word at `position` of the header page is not `expected` any
   * more; without a promise to, since the caller also polls. Returns what ends the wait early.
   */
  wait(position: number, expected: number, moved: () => void): () => void;
  close(): void;
}

export interface SharedMemory {
  /**
   * The segment of that name, or undefined when there is none.
   * @throws Fault NATIVE_FAILED when it is there and cannot be opened
   */
  open(name: string): SegmentFile | undefined;
}

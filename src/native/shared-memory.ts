// The seam to the system: segments by name, open for reading. posix.ts is the real one.

/** One segment file, open for reading. `read` copies, so nothing the publisher does can hurt us. */
export interface SegmentFile {
  /** Copies up to `length` bytes from `position`; returns how many there were. */
  read(into: Uint8Array, length: number, position: number): number;
  /** Size of the file now, in bytes. */
  size(): number;
  /** Whether the name still refers to this very file. */
  isNamed(): boolean;
  /** Whether a publisher holds its lock. Asking takes nothing. */
  isLocked(): boolean;
  /** The 4-byte word at `position`, for waiting on; undefined where that cannot be had. */
  word(position: number): Buffer | undefined;
  close(): void;
}

export interface SharedMemory {
  /**
   * The segment of that name, or undefined when there is none.
   * @throws Fault NATIVE_FAILED when it is there and cannot be opened
   */
  open(name: string): SegmentFile | undefined;
}

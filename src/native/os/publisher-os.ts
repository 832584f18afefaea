// The system calls that a publisher needs and Node lacks. There are two implementations: libc.ts in the programs of
// this project, and addon.ts in the npm package of the publisher library. The import `#publisher-os`, which
// package.json defines, selects one.

/** A mapping of a file. Never access `bytes` after `unmap()`. */
export interface Mapping {
  readonly bytes: Buffer;
  /** Maps another open file at the same address. @throws Fault NATIVE_FAILED with the errno */
  remap(fd: number): void;
  unmap(): void;
}

export interface PublisherOs {
  /**
   * Maps the first `length` bytes of an open file with MAP_SHARED.
   * @throws Fault NATIVE_FAILED with the errno
   */
  readonly map: (fd: number, length: number, access: 'write') => Mapping;
  /** Locks an open file for writing, until its descriptor is closed; false if another description holds the lock. */
  readonly tryLock: (fd: number) => boolean;
  /**
   * Whether another open file description holds a write lock on the file. Does not take the lock.
   * @throws Fault NATIVE_FAILED with the errno
   */
  readonly isLocked: (fd: number) => boolean;
  /** Gives an unnamed open file the name `path`; returns 0 or an errno such as EEXIST (17). */
  readonly linkOpen: (fd: number, path: string) => number;
  /** Sets the mode of an open file; returns 0 or an errno. Node's permission model always refuses `fs.fchmod`. */
  readonly setMode: (fd: number, mode: number) => number;
  /** Allocates a range of a sparse file; returns 0 or an errno such as ENOSPC (28). */
  readonly allocate: (fd: number, offset: number, length: number) => number;
  /** Wakes all waiters on the 4-byte word at the start of `word`. */
  readonly futexWake: (word: Buffer) => void;
  /**
   * Frees the memory of mappings of an open file that ended worker threads left in this process. A late access to
   * them finds zeros.
   */
  readonly replaceMappings: (fd: number) => void;
}

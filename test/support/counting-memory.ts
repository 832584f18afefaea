// Shared memory that counts open segments and records each read.
import { posixMemory } from '#app/native/os/posix.js';
import type { SegmentFile, SharedMemory } from '#app/native/os/shared-memory.js';

/** The byte range of one read. */
export interface CountedRead {
  readonly position: number;
  readonly length: number;
}

export class CountingMemory implements SharedMemory {
  readonly #memory: SharedMemory;
  /** The number of open files. */
  isOpen = 0;
  /** The number of calls of `open`, also for missing files. */
  asked = 0;
  /** All reads of all files, in order. */
  readonly reads: CountedRead[] = [];

  constructor(memory: SharedMemory = posixMemory()) {
    this.#memory = memory;
  }

  open(name: string): SegmentFile | undefined {
    this.asked++;
    const file = this.#memory.open(name);
    if (file === undefined) return undefined;
    this.isOpen++;
    return {
      identity: file.identity,
      ownership: file.ownership,
      read: (into, length, position) => {
        this.reads.push({ position, length });
        return file.read(into, length, position);
      },
      size: () => file.size(),
      nameState: () => file.nameState(),
      askLock: (answer) => file.askLock(answer),
      wait: (position, expected, moved) => file.wait(position, expected, moved),
      close: () => {
        this.isOpen--;
        file.close();
      },
    };
  }
}

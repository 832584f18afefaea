// Shared memory that counts the segments that are open and the looks that were taken at them.
import { posixMemory } from '#app/native/posix.js';
import type { SegmentFile, SharedMemory } from '#app/native/shared-memory.js';

export class CountingMemory implements SharedMemory {
  readonly #memory: SharedMemory;
  /** Files that are open now. */
  isOpen = 0;
  /** Files that were asked for, there or not. */
  asked = 0;

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
      read: (into, length, position) => file.read(into, length, position),
      size: () => file.size(),
      nameHolder: () => file.nameHolder(),
      askLock: (answer) => file.askLock(answer),
      wait: (position, expected, moved) => file.wait(position, expected, moved),
      close: () => {
        this.isOpen--;
        file.close();
      },
    };
  }
}

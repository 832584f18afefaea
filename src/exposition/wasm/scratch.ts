// Kernel memory for what does not outlive a call; it grows and is used again.
import type { Kernel } from './kernel.js';

export class Scratch {
  readonly #kernel: Kernel;
  #at = 0;
  #bytes = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Address of at least `bytes` bytes, until the next call. */
  of(bytes: number): number {
    if (bytes <= this.#bytes) return this.#at;
    this.close();
    this.#at = this.#kernel.arena.take(bytes);
    this.#bytes = bytes;
    return this.#at;
  }

  close(): void {
    if (this.#bytes > 0) this.#kernel.arena.give(this.#at, this.#bytes);
    this.#bytes = 0;
  }
}

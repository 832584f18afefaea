// A piece of rendered text in the kernel's memory that lives as long as somebody holds it.
import type { Kernel } from '../kernel/kernel.js';

export class TextPiece {
  readonly #kernel: Kernel;
  readonly #capacity: number;
  readonly address: number;
  #length = 0;
  #holders = 1;
  #view: Uint8Array | undefined;

  /** Starts with one holder: who made it. */
  constructor(kernel: Kernel, capacity: number) {
    this.#kernel = kernel;
    this.#capacity = capacity;
    this.address = kernel.arena.take(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** States how many bytes were written. */
  set length(bytes: number) {
    this.#length = bytes;
    this.#view = undefined;
  }

  get view(): Uint8Array {
    return (this.#view ??= this.#kernel.window(this.address, this.#length));
  }

  /** Whether its memory was given back. */
  get isGone(): boolean {
    return this.#holders === 0;
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders === 0) this.#kernel.arena.give(this.address, this.#capacity);
  }
}

// A piece of rendered text in the kernel's memory that lives as long as it has holders.
import type { Kernel } from '../kernel/kernel.js';

export class TextPiece {
  readonly #kernel: Kernel;
  readonly #capacity: number;
  readonly address: number;
  #length = 0;
  #holders = 1;
  #view: Uint8Array | undefined;

  /** Starts with one holder, its creator. */
  constructor(kernel: Kernel, capacity: number) {
    this.#kernel = kernel;
    this.#capacity = capacity;
    this.address = kernel.arena.take(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Sets how many bytes were written. */
  set length(bytes: number) {
    this.#length = bytes;
    this.#view = undefined;
  }

  get view(): Uint8Array {
    return (this.#view ??= this.#kernel.window(this.address, this.#length));
  }

  /** True once its memory is freed. */
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

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
  constructor(kernel: Kernel, capacity: number, address = kernel.arena.take(capacity)) {
    this.#kernel = kernel;
    this.#capacity = capacity;
    this.address = address;
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

  /** True while others than its creator hold it. */
  get isHeld(): boolean {
    return this.#holders > 1;
  }

  /** True once its memory is freed or another piece has it. */
  get isGone(): boolean {
    return this.#holders === 0;
  }

  /** A piece for another text in the same memory; this one is gone. Only while nobody else holds it. */
  succeed(): TextPiece {
    const next = new TextPiece(this.#kernel, this.#capacity, this.address);
    this.#holders = 0;
    return next;
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders === 0) this.#kernel.arena.give(this.address, this.#capacity);
  }
}

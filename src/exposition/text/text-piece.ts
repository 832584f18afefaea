// A piece of rendered text in the kernel's memory that lives as long as it has holders.
import type { Kernel } from '../wasm/kernel.js';
import { sizeClass } from '../wasm/memory.js';

export class TextPiece {
  readonly #kernel: Kernel;
  /** Where the text begins. */
  readonly address: number;
  /** Bytes that it has room for. */
  readonly capacity: number;
  #length = 0;
  #holders = 1;
  #view: Uint8Array | undefined;

  /** Starts with one holder, its creator. */
  private constructor(kernel: Kernel, address: number, capacity: number) {
    this.#kernel = kernel;
    this.address = address;
    this.capacity = capacity;
  }

  static of(kernel: Kernel, capacity: number): TextPiece {
    return new TextPiece(kernel, kernel.arena.allocate(capacity), sizeClass(capacity));
  }

  /** Bytes of the text. */
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
    const next = new TextPiece(this.#kernel, this.address, this.capacity);
    this.#holders = 0;
    return next;
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders > 0) return;
    this.#kernel.arena.free(this.address, this.capacity);
  }
}

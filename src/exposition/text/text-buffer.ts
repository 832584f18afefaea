// A piece of rendered text in the kernel's memory, which is freed when its last holder releases it.
import type { Kernel } from '../wasm/kernel.js';
import { sizeClass } from '../wasm/memory.js';

export class TextBuffer {
  readonly #kernel: Kernel;
  /** The address of the text. */
  readonly address: number;
  /** Bytes that it has room for. */
  readonly capacity: number;
  #length = 0;
  #holders = 1;
  #view: Uint8Array | undefined;

  /** Its creator is its first holder. */
  private constructor(kernel: Kernel, address: number, capacity: number) {
    this.#kernel = kernel;
    this.address = address;
    this.capacity = capacity;
  }

  static of(kernel: Kernel, capacity: number): TextBuffer {
    return new TextBuffer(kernel, kernel.arena.allocate(capacity), sizeClass(capacity));
  }

  /** Bytes of the text. */
  get length(): number {
    return this.#length;
  }

  set length(bytes: number) {
    this.#length = bytes;
    this.#view = undefined;
  }

  get view(): Uint8Array {
    return (this.#view ??= this.#kernel.view(this.address, this.#length));
  }

  /** Whether it has holders beside its creator. */
  get isHeld(): boolean {
    return this.#holders > 1;
  }

  /** Whether its memory is freed, or belongs to another piece. */
  get isFreed(): boolean {
    return this.#holders === 0;
  }

  /** Returns a piece for another text in the same memory, which this one gives up. It must not be held. */
  reuse(): TextBuffer {
    const next = new TextBuffer(this.#kernel, this.address, this.capacity);
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

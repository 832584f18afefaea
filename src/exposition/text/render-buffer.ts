// A reference-counted buffer in the kernel's memory, with rendered text or a deflate block.
import type { Kernel } from '../wasm/kernel.js';
import { sizeClass } from '../wasm/memory.js';

export class RenderBuffer {
  readonly #kernel: Kernel;
  /** The address of its content. */
  readonly address: number;
  /** The size of the buffer in bytes. */
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

  static of(kernel: Kernel, capacity: number): RenderBuffer {
    return new RenderBuffer(kernel, kernel.arena.allocate(capacity), sizeClass(capacity));
  }

  /** The length of its content in bytes. */
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

  /** Whether it has holders other than its creator. */
  get isHeld(): boolean {
    return this.#holders > 1;
  }

  /** Whether its memory is freed, or belongs to the result of `reuse`. */
  get isFreed(): boolean {
    return this.#holders === 0;
  }

  /** Returns a new buffer with the same memory, and marks this one as freed. Call it only while `isHeld` is false. */
  reuse(): RenderBuffer {
    const next = new RenderBuffer(this.#kernel, this.address, this.capacity);
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

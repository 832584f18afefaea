// A piece of rendered text in the kernel's memory that lives as long as it has holders.
import { sizeClass } from '../kernel/arena.js';
import type { Kernel } from '../kernel/kernel.js';

/** Memory of the arena. */
interface Place {
  readonly start: number;
  readonly bytes: number;
  /** How many of them are the text before. */
  readonly lead: number;
}

export class TextPiece {
  readonly #kernel: Kernel;
  readonly #place: Place;
  /** Where the text begins. */
  readonly address: number;
  /** Bytes that it has room for. */
  readonly capacity: number;
  #length = 0;
  #holders = 1;
  #view: Uint8Array | undefined;

  /** Starts with one holder, its creator. */
  private constructor(kernel: Kernel, place: Place) {
    this.#kernel = kernel;
    this.#place = place;
    this.address = place.start + place.lead;
    this.capacity = place.bytes - place.lead;
  }

  /** @param before another text, which is shown with it */
  static of(kernel: Kernel, capacity: number, before = ''): TextPiece {
    const lead = Buffer.byteLength(before);
    const bytes = sizeClass(lead + capacity);
    const start = kernel.arena.take(bytes);
    if (lead > 0) kernel.window(start, lead).write(before);
    return new TextPiece(kernel, { start, bytes, lead });
  }

  /** Bytes of the text, without that before. */
  get length(): number {
    return this.#length;
  }

  /** Sets how many bytes were written. */
  set length(bytes: number) {
    this.#length = bytes;
    this.#view = undefined;
  }

  /** The text and what is before it. */
  get view(): Uint8Array {
    const { start, lead } = this.#place;
    return (this.#view ??= this.#kernel.window(start, lead + this.#length));
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
    const next = new TextPiece(this.#kernel, this.#place);
    this.#holders = 0;
    return next;
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders > 0) return;
    const { start, bytes } = this.#place;
    this.#kernel.arena.give(start, bytes);
  }
}

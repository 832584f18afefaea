// The buffers of rendered lines, which the snapshots of a target hold.
import { Fault } from '../../errors.js';
import type { Snapshot } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';

/** A reference-counted buffer in the kernel's memory, with text, a deflate block or protobuf messages. */
export class RenderBuffer {
  readonly #kernel: Kernel;
  readonly address: number;
  /** The size of the buffer in bytes. */
  readonly capacity: number;
  #holders = 1;

  /** Its creator is its first holder. */
  constructor(kernel: Kernel, capacity: number, address = kernel.arena.allocate(capacity)) {
    this.#kernel = kernel;
    this.address = address;
    this.capacity = capacity;
  }

  /** Returns a new buffer with the same memory, and marks this one as freed. Undefined if it has another holder. */
  reuse(): RenderBuffer | undefined {
    if (this.#holders > 1) return undefined;
    this.#holders = 0;
    return new RenderBuffer(this.#kernel, this.capacity, this.address);
  }

  get isFreed(): boolean {
    return this.#holders === 0;
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders > 0) return;
    this.#kernel.arena.free(this.address, this.capacity);
  }
}

/**
 * Makes the function `hold` of a snapshot. All holders of the snapshot share one hold of its buffers. The function
 * throws a Fault NATIVE_FAILED if a later render, or the end of the hosting, has freed the text already.
 */
export function holdOf(buffers: readonly RenderBuffer[]): Snapshot['hold'] {
  let holders = 0;
  return () => {
    if (holders === 0) holdBuffers(buffers);
    holders++;
    return releaseOnce(() => {
      if (--holders > 0) return;
      for (const buffer of buffers) buffer.release();
    });
  };
}

function holdBuffers(buffers: readonly RenderBuffer[]): void {
  if (buffers.some(({ isFreed }) => isFreed))
    throw new Fault('NATIVE_FAILED', 'The text was freed: hold a snapshot before the next render');
  for (const buffer of buffers) buffer.hold();
}

/** Makes a function that calls `release` at its first call, and does nothing at later calls. */
export function releaseOnce(release: () => void): () => void {
  let isHeld = true;
  return () => {
    if (isHeld) release();
    isHeld = false;
  };
}

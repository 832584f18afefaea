// The last text of a target, which the target serves until the next render.
import type { Snapshot } from '../model.js';

export class LastSnapshot {
  #snapshot: Snapshot | undefined;
  #release: (() => void) | undefined;
  /** Whether the hosting that rendered the text has ended. */
  #isRetained = false;

  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /**
   * Returns and holds the text to serve: the reported text, or the last one if none is reported. Call it before the
   * emission of the report returns: after that, the partition may reuse the memory of a text without a holder.
   */
  replace(reported: Snapshot | undefined): Snapshot | undefined {
    if (reported === undefined) return this.#snapshot;
    const release = reported.hold();
    this.release();
    this.#snapshot = reported;
    this.#release = release;
    return reported;
  }

  /**
   * Releases the text before a render, since the render brings a new text. Keeps the text of a hosting that has
   * ended.
   */
  releaseForRender(): void {
    if (!this.#isRetained) this.release();
  }

  /**
   * From now on, keeps the text during renders. Call it when the hosting of the text has ended: then nothing else
   * holds the text.
   */
  retain(): void {
    this.#isRetained = this.#snapshot !== undefined;
  }

  /** Releases the text, which is no longer served. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
    this.#snapshot = undefined;
    this.#isRetained = false;
  }
}

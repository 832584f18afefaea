// The last text of a target, which the target serves until the next render.
import type { Snapshot } from '../model.js';

export class LastSnapshot {
  #snapshot: Snapshot | undefined;
  #release: (() => void) | undefined;
  /** Whether the hosting that rendered it has ended. */
  #isRetained = false;

  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /**
   * Returns the text to serve: the one that a refresh reports, else the last one. Holds it. Call it during the report.
   */
  replace(reported: Snapshot | undefined): Snapshot | undefined {
    if (reported === undefined) return this.#snapshot;
    const release = reported.hold();
    this.release();
    this.#snapshot = reported;
    this.#release = release;
    return reported;
  }

  /** Releases the text before a render, unless its hosting has ended; the next report replaces it. */
  releaseForRender(): void {
    if (!this.#isRetained) this.release();
  }

  /** Keeps the text through renders. Call it when its hosting has ended, which leaves no other holder. */
  retain(): void {
    this.#isRetained = this.#snapshot !== undefined;
  }

  /** Releases the text, which is not served any more. */
  release(): void {
    this.#release?.();
    this.#release = undefined;
    this.#snapshot = undefined;
    this.#isRetained = false;
  }
}

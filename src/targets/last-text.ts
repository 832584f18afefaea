// The last text of a target, which is served until a newer one may be rendered.
import type { Snapshot } from '../model.js';

export class LastText {
  #snapshot: Snapshot | undefined;
  #release: (() => void) | undefined;
  /** Whether the hosting that rendered it has ended. */
  #isKept = false;

  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /**
   * The text to serve: the one that a refresh reports, else the last one. Holds it. Call it during
   * the report.
   */
  take(reported: Snapshot | undefined): Snapshot | undefined {
    if (reported === undefined) return this.#snapshot;
    const release = reported.hold();
    this.drop();
    this.#snapshot = reported;
    this.#release = release;
    return reported;
  }

  /** Releases the text for a render, unless its hosting has ended; the next report brings it back. */
  lend(): void {
    if (!this.#isKept) this.drop();
  }

  /** Call it when the hosting that rendered the text has ended: no other holder is left. */
  keep(): void {
    this.#isKept = this.#snapshot !== undefined;
  }

  /** Releases the text, which is not served any more. */
  drop(): void {
    this.#release?.();
    this.#release = undefined;
    this.#snapshot = undefined;
    this.#isKept = false;
  }
}

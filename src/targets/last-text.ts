// The last text of a target, which is served while nothing newer may be rendered.
import type { Snapshot } from '../model.js';

export class LastText {
  #snapshot: Snapshot | undefined;
  #release: (() => void) | undefined;
  /** Whether it is the text of a hosting that has ended. */
  #isKept = false;

  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /**
   * The text to serve: the one that a refresh reports, else the last one. It is held from now on.
   * Call it while the reported one is there.
   */
  take(reported: Snapshot | undefined): Snapshot | undefined {
    if (reported === undefined) return this.#snapshot;
    const release = reported.hold();
    this.drop();
    this.#snapshot = reported;
    this.#release = release;
    return reported;
  }

  /** Releases the text, unless its hosting has ended; the next report brings it back. */
  lend(): void {
    if (!this.#isKept) this.drop();
  }

  /** The hosting that rendered it has ended, so that only this holds it. */
  keep(): void {
    this.#isKept = this.#snapshot !== undefined;
  }

  /** Releases the text: it is not served any more. */
  drop(): void {
    this.#release?.();
    this.#release = undefined;
    this.#snapshot = undefined;
    this.#isKept = false;
  }
}

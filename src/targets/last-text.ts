// The last text of a target, held for as long as nothing else holds it.
import type { Snapshot } from '../model.js';

export class LastText {
  #snapshot: Snapshot | undefined;
  #release: (() => void) | undefined;
  /** Whether it is the text of a hosting that has ended. */
  #isKept = false;

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

  /** Leaves the text to the hosting that rendered it, until that reports it again. */
  lend(): void {
    if (!this.#isKept) this.drop();
  }

  /** The hosting that rendered it has ended, so that nobody else has it. */
  keep(): void {
    this.#isKept = this.#snapshot !== undefined;
  }

  /** Lets go of it: it is not shown any more. */
  drop(): void {
    this.#release?.();
    this.#release = undefined;
    this.#snapshot = undefined;
    this.#isKept = false;
  }
}

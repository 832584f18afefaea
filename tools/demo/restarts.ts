// Limits how often a process is restarted.

const WINDOW_MS = 60_000;

export class Restarts {
  readonly #max: number;
  readonly #nowMs: () => number;
  #times: number[] = [];

  /** @param max restarts in any minute */
  constructor(max: number, nowMs: () => number) {
    this.#max = max;
    this.#nowMs = nowMs;
  }

  /** Uses one restart, if any is left. */
  take(): boolean {
    const now = this.#nowMs();
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    if (this.#times.length >= this.#max) return false;
    this.#times.push(now);
    return true;
  }
}

// How often something that falls over may be started again.

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

  /** Takes one restart, if there is one left. */
  take(): boolean {
    const now = this.#nowMs();
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    if (this.#times.length >= this.#max) return false;
    this.#times.push(now);
    return true;
  }
}

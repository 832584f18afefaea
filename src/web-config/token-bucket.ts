// Lets requests in at a bounded rate: a bucket of tokens that fills with time.

export class TokenBucket {
  readonly #intervalMs: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledMs: number;

  /**
   * @param intervalMs time in which one token is added; 0 lets everybody in
   * @param burst most tokens, which a new bucket has
   */
  constructor(intervalMs: number, burst: number, nowMs: () => number) {
    this.#intervalMs = intervalMs;
    this.#burst = burst;
    this.#nowMs = nowMs;
    this.#tokens = burst;
    this.#filledMs = nowMs();
  }

  /** Takes a token, if there is one. */
  take(): boolean {
    if (this.#intervalMs === 0) return true;
    const nowMs = this.#nowMs();
    const added = (nowMs - this.#filledMs) / this.#intervalMs;
    this.#tokens = Math.min(this.#burst, this.#tokens + added);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}

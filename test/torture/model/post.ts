// Messages in one direction: they arrive in their order, each some time after it was sent.
import type { SeededClock } from './seeded-clock.js';

export class Post<T> {
  readonly #clock: SeededClock;
  readonly #mostMs: number;
  readonly #deliver: (message: T) => void;
  readonly #underWay: T[] = [];
  #isOver = false;

  /** @param mostMs how long a message takes at most, but for those before it */
  constructor(clock: SeededClock, mostMs: number, deliver: (message: T) => void) {
    this.#clock = clock;
    this.#mostMs = mostMs;
    this.#deliver = deliver;
  }

  /** Sends what the message is now. */
  send(message: T): void {
    if (this.#isOver) return;
    this.#underWay.push(structuredClone(message));
    this.#clock.soon(() => {
      const next = this.#underWay.shift();
      if (next !== undefined) this.#deliver(next);
    }, this.#mostMs);
  }

  /** Nothing arrives any more. */
  end(): void {
    this.#isOver = true;
    this.#underWay.length = 0;
  }
}

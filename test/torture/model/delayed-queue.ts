// A one-way message queue that delivers in order, with a random delay for each message.
import type { SeededClock } from './seeded-clock.js';

export class DelayedQueue<T> {
  readonly #clock: SeededClock;
  readonly #mostMs: number;
  readonly #deliver: (message: T) => void;
  readonly #pending: T[] = [];
  #isClosed = false;

  /** @param mostMs the longest delay of a message, not counting the delays of the messages before it */
  constructor(clock: SeededClock, mostMs: number, deliver: (message: T) => void) {
    this.#clock = clock;
    this.#mostMs = mostMs;
    this.#deliver = deliver;
  }

  /** Sends a copy of the message. */
  send(message: T): void {
    if (this.#isClosed) return;
    this.#pending.push(structuredClone(message));
    this.#clock.soon(() => {
      const next = this.#pending.shift();
      if (next !== undefined) this.#deliver(next);
    }, this.#mostMs);
  }

  /** Drops all undelivered messages. */
  end(): void {
    this.#isClosed = true;
    this.#pending.length = 0;
  }
}

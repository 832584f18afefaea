// Waits for the futex words of segments that stand still: one call on one thread for all of them.
import { hrtime } from 'node:process';
import { canWaitOnFutexes, futexWaitAny, futexWake } from './libc.js';

/** Words that one call can wait for, less the waiter's own. */
const MAX_WORDS = 127;
/** A call ends after this time at the latest, so that none outlives its reason by much. */
const LONGEST_WAIT_NS = 5_000_000_000n;

interface Waiting {
  readonly word: Buffer;
  readonly expected: number;
  readonly moved: () => void;
}

/**
 * Calls back once when a word moves; without a promise to call exactly then, since the caller also
 * polls. Where the system refuses the call, it never calls back.
 */
export class FutexWaiter {
  readonly #isSupported = canWaitOnFutexes();
  /** Moves to wake our own call, when the list changes or the waiter closes. */
  readonly #own = Buffer.alloc(4);
  readonly #waiting = new Set<Waiting>();
  #isCalling = false;
  #isClosed = false;

  /** Waits while `word` is `expected`; returns what ends the wait early. */
  wait(word: Buffer, expected: number, moved: () => void): () => void {
    if (!this.#isSupported || this.#isClosed || this.#waiting.size >= MAX_WORDS)
      return () => undefined;
    const entry: Waiting = { word, expected, moved };
    this.#waiting.add(entry);
    this.#renew();
    return () => {
      if (this.#waiting.delete(entry)) this.#renew();
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#renew();
  }

  #renew(): void {
    if (!this.#isCalling) {
      this.#call();
      return;
    }
    this.#own.writeUInt32LE((this.#own.readUInt32LE(0) + 1) >>> 0, 0);
    futexWake(this.#own);
  }

  #call(): void {
    if (this.#isClosed || this.#waiting.size === 0) return;
    this.#isCalling = true;
    const own = this.#own.readUInt32LE(0);
    const called = [...this.#waiting];
    const words = [{ word: this.#own, expected: own }, ...called];
    futexWaitAny(words, hrtime.bigint(), LONGEST_WAIT_NS, () => {
      this.#isCalling = false;
      // Which word moved is not told reliably, and reading a mapped word could kill the process:
      // everybody looks again, which costs a small read each.
      const isOwn = this.#own.readUInt32LE(0) !== own;
      if (!isOwn) for (const entry of called) if (this.#waiting.delete(entry)) entry.moved();
      if (!this.#isRunning()) this.#call();
    });
  }

  #isRunning(): boolean {
    return this.#isCalling;
  }
}

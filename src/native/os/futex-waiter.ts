// Waits for changes of futex words: one system call on one thread for all idle segments.
import { stat } from 'node:fs';
import { hrtime } from 'node:process';
import { getSystemErrorName } from 'node:util';
import { Fault } from '../../errors.js';
import { MORE_THREADS } from '../../thread-code.js';
import { canWaitOnFutexes, futexWaitAny, futexWake, tryThreads } from './libc.js';

/** The most words of one call, less the waiter's own. */
const MAX_WORDS = 127;
/** The most time of a call, so that none outlives its segments by much. */
const LONGEST_WAIT_NS = 5_000_000_000n;

interface FutexCall {
  readonly word: Buffer;
  readonly expected: number;
  readonly moved: () => void;
}

/**
 * Calls back once when a word changes. It may call early, late or, if the system refuses the call,
 * never, since the caller also polls.
 */
export class FutexWaiter {
  readonly #isSupported = canWaitOnFutexes();
  /** Changes to wake our own call, when the list changes or the waiter closes. */
  readonly #own = Buffer.alloc(4);
  readonly #waiting = new Set<FutexCall>();
  #isCalling = false;
  #isClosed = false;

  /** Waits while `word` is `expected`; returns a function that ends the wait early. */
  wait(word: Buffer, expected: number, moved: () => void): () => void {
    if (!this.#isSupported || this.#isClosed || this.#waiting.size >= MAX_WORDS)
      return () => undefined;
    const entry: FutexCall = { word, expected, moved };
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
      // The system does not report reliably which word changed, and reading a mapped word could
      // kill the process: all callers check again, at the cost of a small read each.
      const isOwn = this.#own.readUInt32LE(0) !== own;
      if (!isOwn) for (const entry of called) if (this.#waiting.delete(entry)) entry.moved();
      if (!this.#isRunning()) this.#call();
    });
  }

  #isRunning(): boolean {
    return this.#isCalling;
  }
}

/** libuv's own default, and its maximum. */
const THREADS = 4;
const MAX_THREADS = 1024;

/**
 * Starts all threads of the pool. By itself, libuv starts them at the first call that needs one, and aborts the
 * process if the system refuses them.
 * @param size the environment variable UV_THREADPOOL_SIZE
 * @throws Fault NATIVE_FAILED when the system refuses them now
 */
export function startThreadPool(size: string | undefined): void {
  const count =
    size === undefined ? THREADS : Math.max(1, Math.min(parseInt(size) || 1, MAX_THREADS));
  const errno = tryThreads(count);
  if (errno !== 0)
    throw new Fault(
      'NATIVE_FAILED',
      `the system refuses ${count} more threads (${getSystemErrorName(-errno)}): ${MORE_THREADS}`,
    );
  // Any call that needs a thread makes libuv start them all.
  stat('/', () => undefined);
}

// Waits for changes of futex words, with one system call on one thread for all idle segments.
import { stat } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { Fault } from '../../errors.js';
import { MORE_THREADS } from '../../thread-code.js';
import { canWaitOnFutexes, futexWaitAny, futexWake, tryThreads } from './libc.js';

const { hrtime } = process;

/** Maximum number of words per call, besides the waiter's own word. futex_waitv(2) takes 128. */
const MAX_WORDS = 127;
/** Timeout of a call. It bounds how long a call can continue after its segments are closed. */
const TIMEOUT_NS = 5_000_000_000n;

interface FutexCall {
  readonly word: Buffer;
  readonly expected: number;
  readonly onChange: () => void;
}

/**
 * Calls back once when a word changes. The callback may come early or late, and it never comes on a system without
 * futex_waitv. So callers also poll.
 */
export class FutexWaiter {
  readonly #isSupported = canWaitOnFutexes();
  /** A word that every call waits on. The waiter changes it to end the call when the list of words changes. */
  readonly #own = Buffer.alloc(4);
  readonly #waiting = new Set<FutexCall>();
  #isCalling = false;
  #isClosed = false;

  /** Waits while `word` has the value `expected`; returns a function that ends the wait early. */
  wait(word: Buffer, expected: number, onChange: () => void): () => void {
    if (!this.#isSupported || this.#isClosed || this.#waiting.size >= MAX_WORDS)
      return () => undefined;
    const entry: FutexCall = { word, expected, onChange };
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
    futexWaitAny(words, hrtime.bigint(), TIMEOUT_NS, () => {
      this.#isCalling = false;
      // The system does not report reliably which word changed, and reading a mapped word could kill the process. So
      // all callers are notified, and each checks its own segment with a small read.
      const isOwn = this.#own.readUInt32LE(0) !== own;
      if (!isOwn) for (const entry of called) if (this.#waiting.delete(entry)) entry.onChange();
      if (!this.#isRunning()) this.#call();
    });
  }

  #isRunning(): boolean {
    return this.#isCalling;
  }
}

/** Default and maximum size of libuv's thread pool. */
const THREADS = 4;
const MAX_THREADS = 1024;

/**
 * Starts libuv's thread pool now. libuv itself would start the pool at its first use, and abort the process if that
 * fails.
 * @param size the value of the environment variable UV_THREADPOOL_SIZE
 * @throws Fault NATIVE_FAILED if the system refuses the threads
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
  // Any call that needs a thread makes libuv start all of them.
  stat('/', () => undefined);
}

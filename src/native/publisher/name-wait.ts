// Waits until another publisher releases the name of a segment.
import { clearTimeout, setTimeout } from 'node:timers';
import type { FaultCode } from '../../errors.js';
import { Fault, messageOf } from '../../errors.js';

const RETRY_MS = 1000;

/**
 * The end of the warning that another publisher holds a server key: what the program can do about it.
 * @param part the part that the keys of worker processes must have
 */
export const busyAdvice = (part: string): string =>
  ` (set failIfBusy to get an error instead; give each worker process a key with ${part}, and all of them one target with format = "workers")`;

/** Calls `retry` one second after each failed attempt. Tells `warn` why it waits, and when the wait has succeeded. */
export class NameWait {
  readonly #advice: string;
  readonly #retry: () => void;
  readonly #warn: (sentence: string) => void;
  #timer: NodeJS.Timeout | undefined;
  /** The code of the last fault that was passed to `warn`. */
  #warned: FaultCode | undefined;

  /** @param advice the end of the warning that another publisher holds the name */
  constructor(advice: string, retry: () => void, warn: (sentence: string) => void) {
    this.#advice = advice;
    this.#retry = retry;
    this.#warn = warn;
  }

  /** Schedules the next attempt after `error`. */
  after(error: unknown): void {
    // Unreferenced, so that the wait does not keep the program alive.
    if (this.#timer === undefined) this.#timer = setTimeout(this.#retry, RETRY_MS).unref();
    else this.#timer.refresh();
    const code = error instanceof Fault ? error.code : 'NATIVE_FAILED';
    if (code === this.#warned) return;
    this.#warned = code;
    const then =
      code === 'SEGMENT_BUSY'
        ? `this publisher takes the key once it is free${this.#advice}`
        : 'the publisher tries again every second';
    this.#warn(`${messageOf(error)}; ${then}`);
  }

  /** Ends the wait, since the publisher has its name. */
  succeed(path: string): void {
    if (this.#warned !== undefined) this.#warn(`this publisher now holds ${path}`);
    this.end();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#warned = undefined;
  }
}

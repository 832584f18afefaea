// Waits for the name of a segment that another publisher has.
import { clearTimeout, setTimeout } from 'node:timers';
import type { FaultCode } from '../../errors.js';
import { Fault, messageOf } from '../../errors.js';

const RETRY_MS = 1000;

/** Calls `retry` one second after each failed attempt, and gives the reason to `warn` when the waiting begins. */
export class NameWait {
  readonly #retry: () => void;
  readonly #warn: (sentence: string) => void;
  #timer: NodeJS.Timeout | undefined;
  /** The code of the last fault that `warn` got. */
  #warned: FaultCode | undefined;

  constructor(retry: () => void, warn: (sentence: string) => void) {
    this.#retry = retry;
    this.#warn = warn;
  }

  /** Waits after a failed attempt. */
  after(error: unknown): void {
    // Unreferenced: the wait keeps no program alive.
    if (this.#timer === undefined) this.#timer = setTimeout(this.#retry, RETRY_MS).unref();
    else this.#timer.refresh();
    const code = error instanceof Fault ? error.code : 'NATIVE_FAILED';
    if (code === this.#warned) return;
    this.#warned = code;
    const then =
      code === 'SEGMENT_BUSY'
        ? 'this one takes the key when it is free (failIfBusy: true makes that an error)'
        : 'the publisher tries again every second';
    this.#warn(`${messageOf(error)}; ${then}`);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#warned = undefined;
  }
}

// What is due now, first come first served: a little of it in each turn of the event loop.
import { performance } from 'node:perf_hooks';
import { SLICE_MS } from '../budget.js';

interface Job {
  /** Undefined once it is done or called off. */
  work: (() => void) | undefined;
}

/** Work goes on for `SLICE_MS` before sockets and timers have their turn, whichever target it is for. */
export class FairTurns {
  readonly #nowMs: () => number;
  readonly #yieldTo: (next: () => void) => void;
  #waiting: Job[] = [];
  #isArmed = false;

  /**
   * @param nowMs milliseconds of a clock that does not step
   * @param yieldTo calls back after the event loop has turned
   */
  constructor(
    nowMs: () => number = () => performance.now(),
    yieldTo: (next: () => void) => void = setImmediate,
  ) {
    this.#nowMs = nowMs;
    this.#yieldTo = yieldTo;
  }

  /** Does the work in one of the next turns, never at once; returns what calls it off. */
  soon(work: () => void): () => void {
    const job: Job = { work };
    this.#waiting.push(job);
    this.#arm();
    return () => {
      job.work = undefined;
    };
  }

  #arm(): void {
    if (this.#isArmed || this.#waiting.length === 0) return;
    this.#isArmed = true;
    this.#yieldTo(() => {
      this.#isArmed = false;
      this.#turn();
    });
  }

  /** What the work adds waits for the next turn. */
  #turn(): void {
    const jobs = this.#waiting;
    this.#waiting = [];
    const endMs = this.#nowMs() + SLICE_MS;
    let done = 0;
    try {
      while (done < jobs.length && (done === 0 || this.#nowMs() < endMs)) {
        const job = jobs[done++];
        const work = job?.work;
        if (job === undefined || work === undefined) continue;
        job.work = undefined;
        work();
      }
    } finally {
      this.#waiting = jobs.slice(done).concat(this.#waiting);
      this.#arm();
    }
  }
}

/** Those of this thread. */
export const turns = new FairTurns();

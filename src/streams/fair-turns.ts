// A FIFO scheduler that runs at most one time slice of work per event-loop iteration.
import { SLICE_MS } from '../budget.js';
import { monotonicMs } from '../clock.js';

interface Job {
  /** Undefined once it is done or cancelled. */
  work: (() => void) | undefined;
}

/** For so many milliseconds urgent work may keep all else waiting. */
const MAX_WAIT_MS = 10;

/**
 * A job lasts `SLICE_MS` at most; after half of that, sockets and timers have their turn before the next one
 * begins, whichever target it is for. Urgent work goes before all else, unless that has waited for `MAX_WAIT_MS`.
 */
export class FairTurns {
  readonly #nowMs: () => number;
  readonly #yieldTo: (next: () => void) => void;
  readonly #urgent = new Jobs();
  readonly #others = new Jobs();
  /** When the others had their last turn, or began to wait for one. */
  #waitingSinceMs = 0;
  #isArmed = false;

  /**
   * @param nowMs milliseconds of a clock that does not step
   * @param yieldTo calls back after the event loop has turned
   */
  constructor(nowMs = monotonicMs, yieldTo: (next: () => void) => void = setImmediate) {
    this.#nowMs = nowMs;
    this.#yieldTo = yieldTo;
  }

  /** Does the work in one of the next turns, never at once; returns what cancels it. */
  soon(work: () => void, isUrgent = false): () => void {
    const job: Job = { work };
    if (!isUrgent && !this.#others.areWaiting) this.#waitingSinceMs = this.#nowMs();
    (isUrgent ? this.#urgent : this.#others).add(job);
    this.#arm();
    return () => {
      job.work = undefined;
    };
  }

  #arm(): void {
    if (this.#isArmed || !(this.#urgent.areWaiting || this.#others.areWaiting)) return;
    this.#isArmed = true;
    this.#yieldTo(() => {
      this.#isArmed = false;
      try {
        this.#work();
      } finally {
        this.#arm();
      }
    });
  }

  #work(): void {
    const nowMs = this.#nowMs();
    const isOverdue = this.#others.areWaiting && nowMs - this.#waitingSinceMs >= MAX_WAIT_MS;
    const isUrgent = this.#urgent.areWaiting && !isOverdue;
    if (!isUrgent) this.#waitingSinceMs = nowMs;
    const hasTime = (): boolean => this.#nowMs() < nowMs + SLICE_MS / 2;
    (isUrgent ? this.#urgent : this.#others).work(hasTime);
  }
}

class Jobs {
  #waiting: Job[] = [];

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  add(job: Job): void {
    this.#waiting.push(job);
  }

  /** Does at least one of those that wait now. What they add waits for another turn. */
  work(hasTime: () => boolean): void {
    const jobs = this.#waiting;
    this.#waiting = [];
    let done = 0;
    try {
      while (done < jobs.length && (done === 0 || hasTime())) {
        const job = jobs[done++];
        const work = job?.work;
        if (job === undefined || work === undefined) continue;
        job.work = undefined;
        work();
      }
    } finally {
      this.#waiting = jobs.slice(done).concat(this.#waiting);
    }
  }
}

/** Those of this thread. */
export const turns = new FairTurns();

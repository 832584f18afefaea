// What is due now, first come first served: a little of it in each turn of the event loop.
import { performance } from 'node:perf_hooks';
import { SLICE_MS } from '../budget.js';

interface Job {
  /** Undefined once it is done or called off. */
  work: (() => void) | undefined;
}

/** So many milliseconds may urgent work keep all else waiting. */
const MOST_WAIT_MS = 10;

/**
 * Work goes on for `SLICE_MS` before sockets and timers have their turn, whichever target it is for.
 * What somebody waits for has turns before all else, unless that has waited for `MOST_WAIT_MS`.
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
  constructor(
    nowMs: () => number = () => performance.now(),
    yieldTo: (next: () => void) => void = setImmediate,
  ) {
    this.#nowMs = nowMs;
    this.#yieldTo = yieldTo;
  }

  /** Does the work in one of the next turns, never at once; returns what calls it off. */
  soon(work: () => void, isUrgent = false): () => void {
    const job: Job = { work };
    if (!isUrgent && !this.#others.areWaiting) this.#waitingSinceMs = this.#nowMs();
    (isUrgent ? this.#urgent : this.#others).add(job);
    this.#arm();
    return () => {
      job.work = undefined;
    };
  }

  /** Somebody is about to ask for something: sockets have their turn before the work of others goes on. */
  giveWay(): void {
    this.soon(() => undefined, true);
  }

  #arm(): void {
    if (this.#isArmed || !(this.#urgent.areWaiting || this.#others.areWaiting)) return;
    this.#isArmed = true;
    this.#yieldTo(() => {
      this.#isArmed = false;
      this.#turn();
    });
  }

  #turn(): void {
    const nowMs = this.#nowMs();
    const isOverdue = this.#others.areWaiting && nowMs - this.#waitingSinceMs >= MOST_WAIT_MS;
    const isOver = (): boolean => this.#nowMs() >= nowMs + SLICE_MS;
    const isUrgent = this.#urgent.areWaiting && !isOverdue;
    try {
      (isUrgent ? this.#urgent : this.#others).work(isOver);
    } finally {
      if (!isUrgent) this.#waitingSinceMs = this.#nowMs();
      this.#arm();
    }
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
  work(isOver: () => boolean): void {
    const jobs = this.#waiting;
    this.#waiting = [];
    let done = 0;
    try {
      while (done < jobs.length && (done === 0 || !isOver())) {
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

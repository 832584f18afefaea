// Where jobs lie for two threads: one posts them, both take them.
import { Job, JOB_WORDS } from '../job.js';

/** So many jobs may be posted and not be collected yet: a power of two. */
export const SLOTS = 16;
/** Threads of other processors see a wake-up some microseconds later; a turn of the loop takes 5 ns. */
const TURNS_BEFORE_SLEEP = 4000;

/** How often the assistant was woken, the numbers of the next job to be taken and posted, and whose they are. */
const AT = { wakes: 0, next: 1, posted: 2, kernel: 3 };
const JOBS_AT = 16;

export class Desk {
  readonly words: Int32Array<SharedArrayBuffer>;
  /** Whether the assistant is gone: jobs that it took and did not do are never done. */
  isLost = false;
  readonly #jobs: readonly Job[];

  /** @param words those of the desk in the other thread; new ones by default */
  constructor(
    words = new Int32Array(
      new SharedArrayBuffer((JOBS_AT + SLOTS * JOB_WORDS) * Int32Array.BYTES_PER_ELEMENT),
    ),
  ) {
    this.words = words;
    this.#jobs = Array.from(
      { length: SLOTS },
      (_, slot) => new Job(words, JOBS_AT + slot * JOB_WORDS),
    );
  }

  /** The number of the kernel that the jobs are for. */
  get kernel(): number {
    return Atomics.load(this.words, AT.kernel);
  }
  set kernel(number: number) {
    Atomics.store(this.words, AT.kernel, number);
  }

  /** The number of the job that is posted next. Numbers go round after 2^32. */
  get posted(): number {
    return Atomics.load(this.words, AT.posted);
  }

  /** The job of that number: it lies there until the one that is `SLOTS` behind it. */
  job(number: number): Job {
    const job = this.#jobs[slotOf(number)];
    if (job === undefined) throw new RangeError(`No job ${number}`);
    return job;
  }

  /** The next job may be taken. The one that is `SLOTS` before it has been collected. */
  post(): void {
    Atomics.add(this.words, AT.posted, 1);
  }

  /** Takes the next job; undefined if all that are posted are taken. */
  take(): Job | undefined {
    for (;;) {
      const number = Atomics.load(this.words, AT.next);
      if (((Atomics.load(this.words, AT.posted) - number) | 0) <= 0) return undefined;
      if (Atomics.compareExchange(this.words, AT.next, number, (number + 1) | 0) === number)
        return this.job(number);
    }
  }

  wake(): void {
    Atomics.add(this.words, AT.wakes, 1);
    Atomics.notify(this.words, AT.wakes);
  }

  /** Sleeps for as long as it has been woken `wakes` times; returns how often it has been then. */
  sleep(wakes: number): number {
    for (let turn = 0; turn < TURNS_BEFORE_SLEEP; turn++) {
      const now = Atomics.load(this.words, AT.wakes);
      if (now !== wakes) return now;
    }
    Atomics.wait(this.words, AT.wakes, wakes);
    return Atomics.load(this.words, AT.wakes);
  }
}

/** Where a job of that number lies. */
export const slotOf = (number: number): number => number & (SLOTS - 1);

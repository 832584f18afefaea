// Has the kernel write what changed: one after the other, or two threads at once.
import { Job, JOB_WORDS } from '../kernel/job.js';
import type { Kernel } from '../kernel/kernel.js';
import { Scratch } from '../kernel/scratch.js';
import { SLOTS, slotOf } from '../kernel/threads/desk.js';
import type { Desk } from '../kernel/threads/desk.js';
import type { JobRoom, Wanted, WritingTask } from './writing-task.js';

/** So much text takes a tenth of a millisecond or two; to look whether time is left takes a hundredth. */
const BYTES_A_STEP = 262_144;
/** From so many microseconds of work on it pays to wake another thread. */
const LARGE_US = 2000;
/** How long a step waits for what the assistant has begun: mostly it takes less. */
const WAIT_MS = 0.2;

/** What a render writes whose jobs lie on a desk, the first of them with that number. */
interface Shared {
  readonly desk: Desk;
  readonly first: number;
  readonly tasks: readonly WritingTask[];
  posted: number;
  collected: number;
  /** Those that were taken back: nobody does them. */
  readonly left: Set<Job>;
}

export class TaskWriter {
  readonly #kernel: Kernel;
  readonly #largeUs: number;
  readonly #rooms: readonly JobRoom[];
  readonly #job = new Job(new Int32Array(JOB_WORDS), 0);
  #shared: Shared | undefined;
  /** The job that this thread is at: it stays so where the kernel fails. */
  #present: Job | undefined;
  /** What is begun and not posted: it stays so where there is no memory. */
  #begun: WritingTask | undefined;
  /** Whether so much was written before. The first time is at the start, and need not be followed by another. */
  #wasLarge = false;

  /** @param largeUs for so many microseconds of work, an assistant is asked for */
  constructor(kernel: Kernel, largeUs = LARGE_US) {
    this.#kernel = kernel;
    this.#largeUs = largeUs;
    this.#rooms = Array.from({ length: SLOTS }, () => ({
      values: new Scratch(kernel),
      stream: new Scratch(kernel),
    }));
  }

  /**
   * Writes them as they are wanted, in small steps. Nothing else may be done with their lines before
   * the last of these, or of `closing`.
   * @param mostUs what it takes at most, in microseconds
   */
  *writing(tasks: readonly WritingTask[], wanted: Wanted, mostUs: number): Generator<void, void> {
    const desk = mostUs > this.#largeUs ? this.#deskFor(tasks, wanted) : undefined;
    if (desk === undefined) yield* this.#alone(tasks, wanted);
    else yield* this.#together(desk, tasks, wanted);
  }

  /**
   * Ends a render that failed, or whose steps were not all taken: what is not finished is written anew by the
   * next. The assistant may be at work on one of its jobs.
   */
  *abandoning(): Generator<void, void> {
    this.#begun?.abandon();
    this.#begun = undefined;
    const shared = this.#shared;
    if (shared !== undefined) yield* this.#collecting(shared);
    this.#present = undefined;
  }

  /** Frees everything, in small steps. What is not written yet is left. */
  *closing(): Generator<void, void> {
    yield* this.abandoning();
    this.#closeRooms();
  }

  #deskFor(tasks: readonly WritingTask[], wanted: Wanted): Desk | undefined {
    const { assistant } = this.#kernel;
    if (assistant === undefined) return undefined;
    let effortUs = 0;
    for (const task of tasks) effortUs += task.effortUs(wanted);
    if (effortUs <= this.#largeUs) return undefined;
    const wasLarge = this.#wasLarge;
    this.#wasLarge = true;
    return wasLarge ? assistant.engage(this.#kernel) : undefined;
  }

  *#alone(tasks: readonly WritingTask[], wanted: Wanted): Generator<void, void> {
    let bytes = 0;
    const [room, job] = [this.#room(0), this.#job];
    for (const task of tasks) {
      this.#begun = task;
      task.prepare(wanted, room, job);
      this.#carryOut(job);
      task.finish(job);
      this.#begun = undefined;
      bytes += task.bytes;
      if (bytes < BYTES_A_STEP) continue;
      bytes = 0;
      yield;
    }
  }

  /** Either thread takes the next job that none has taken; this one collects all in their order. */
  *#together(desk: Desk, tasks: readonly WritingTask[], wanted: Wanted): Generator<void, void> {
    const shared: Shared = {
      desk,
      tasks,
      first: desk.posted,
      posted: 0,
      collected: 0,
      left: new Set(),
    };
    this.#shared = shared;
    let bytes = 0;
    while (shared.collected < tasks.length) {
      this.#post(shared, wanted);
      const job = desk.job(shared.first + shared.collected);
      if (job.isDone) {
        tasks[shared.collected++]?.finish(job);
        continue;
      }
      const next = desk.take();
      if (next !== undefined) this.#carryOut(next);
      else if (desk.isLost) this.#makeGood(shared, wanted);
      else {
        if (!job.waitMs(WAIT_MS)) yield;
        continue;
      }
      // The next one to be collected counts for the one that was done: neighbours are mostly alike.
      bytes += tasks[shared.collected]?.bytes ?? 0;
      if (bytes < BYTES_A_STEP) continue;
      bytes = 0;
      yield;
    }
    this.#end();
  }

  /** Posts jobs as long as there is room for them. */
  #post(shared: Shared, wanted: Wanted): void {
    const { desk, tasks, first } = shared;
    const before = shared.posted;
    while (shared.posted < tasks.length && shared.posted - shared.collected < SLOTS) {
      const number = first + shared.posted;
      this.#begun = tasks[shared.posted];
      this.#begun?.prepare(wanted, this.#room(number), desk.job(number));
      this.#begun = undefined;
      desk.post();
      shared.posted++;
    }
    if (shared.posted > before) desk.wake();
  }

  /** Writes what is to be collected next, which the assistant began and did not finish. */
  #makeGood({ desk, tasks, first, collected }: Shared, wanted: Wanted): void {
    const task = tasks[collected];
    const job = desk.job(first + collected);
    task?.abandon();
    task?.prepare(wanted, this.#room(first + collected), job);
    this.#carryOut(job);
  }

  /** Takes back all jobs that are posted. */
  *#collecting(shared: Shared): Generator<void, void> {
    const { desk, tasks, first, left } = shared;
    if (this.#present !== undefined) left.add(this.#present);
    for (let job = desk.take(); job !== undefined; job = desk.take()) left.add(job);
    for (; shared.collected < shared.posted; shared.collected++) {
      const job = desk.job(first + shared.collected);
      while (!left.has(job) && !desk.isLost && !job.waitMs(WAIT_MS)) yield;
      tasks[shared.collected]?.abandon();
    }
    this.#end();
  }

  /** Others may use the memory of the rooms, and the assistant. */
  #end(): void {
    this.#shared = undefined;
    this.#closeRooms();
    this.#kernel.assistant?.release();
  }

  #closeRooms(): void {
    for (const { values, stream } of this.#rooms) {
      values.close();
      stream.close();
    }
  }

  #carryOut(job: Job): void {
    this.#present = job;
    job.carryOut(this.#kernel.run, this.#kernel.written);
    this.#present = undefined;
  }

  #room(number: number): JobRoom {
    const room = this.#rooms[slotOf(number)];
    if (room === undefined) throw new RangeError(`No room ${number}`);
    return room;
  }
}

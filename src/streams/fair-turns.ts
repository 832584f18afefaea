// What is due now, first come first served: a little of it in each turn of the event loop.
import { performance } from 'node:perf_hooks';
import { SLICE_MS } from '../budget.js';
import { monotonicMs } from '../clock.js';

/** Whether somebody waits for work. */
export type Urgency =
  /** Somebody does, and it is mostly short: it goes before all else. */
  | 'first'
  /** Somebody does, but it may be long: it shares turns with what nobody waits for. */
  | 'asked'
  /** Nobody does: where others ask for something now and then, it rests between its turns. */
  | 'unasked';

interface Job {
  /** Undefined once it is done or called off. */
  work: (() => void) | undefined;
  readonly isAsked: boolean;
}

/** So many milliseconds may urgent work keep all else waiting. */
const MAX_WAIT_MS = 10;
/** For so long after somebody asked for something, the next one is expected. */
const ASKED_MS = 100;
/** Then what nobody waits for rests so many times as long as its turn took the thread, but no longer than that. */
const REST_SHARE = 2;
const MAX_REST_MS = 20;

/** What of an event loop this needs. */
export interface EventLoop {
  /** Milliseconds of a clock that does not step. */
  readonly nowMs: () => number;
  /** How many of them the thread worked so far: garbage is often collected between two turns. */
  readonly workedMs: () => number;
  /** Calls back after the event loop has turned. */
  readonly yieldTo: (next: () => void) => void;
  /** Calls back after so many milliseconds; returns what calls it off. */
  readonly wait: (next: () => void, ms: number) => () => void;
}

const NODE: EventLoop = {
  nowMs: monotonicMs,
  workedMs: () => performance.eventLoopUtilization().active,
  yieldTo: setImmediate,
  wait: (next, ms) => {
    const timer = setTimeout(next, ms);
    return () => {
      clearTimeout(timer);
    };
  },
};

/**
 * A piece of work lasts `SLICE_MS` at most; after half of that, sockets and timers have their turn before
 * the next one begins, whichever target it is for.
 * What somebody waits for has turns before all else, unless that has waited for `MAX_WAIT_MS`.
 * Where somebody asks often, what nobody waits for leaves the thread idle for most of the time: a request
 * finds it so, and the kernel gives the processor at once to a thread that has not used up its share.
 */
export class FairTurns {
  readonly #loop: EventLoop;
  readonly #urgent = new Jobs();
  readonly #others = new Jobs();
  /** When the others had their last turn and their rest, or began to wait for one. */
  #waitingSinceMs = 0;
  /** When somebody asked for something, and until when the others rest if that was lately. */
  #askedMs = -Infinity;
  #restEndMs = 0;
  /**
   * Whether the others had a turn that the event loop has not ended yet, and how long the thread had worked
   * before it: undefined where nobody asked lately, so that they will not rest.
   */
  #isTurnOfOthers = false;
  #workedMs: number | undefined;
  #isArmed = false;
  /** Calls off the turn after the rest. */
  #endRest: (() => void) | undefined;

  constructor(loop = NODE) {
    this.#loop = loop;
  }

  /** Does the work in one of the next turns, never at once; returns what calls it off. */
  soon(work: () => void, urgency: Urgency = 'unasked'): () => void {
    const job: Job = { work, isAsked: urgency === 'asked' };
    const nowMs = this.#loop.nowMs();
    if (urgency === 'first') {
      this.#askedMs = nowMs;
      this.#urgent.add(job);
    } else {
      if (!this.#others.areWaiting) this.#waitingSinceMs = Math.max(nowMs, this.#restEndMs);
      this.#others.add(job);
    }
    this.#arm();
    return () => {
      job.work = undefined;
    };
  }

  /**
   * Somebody is about to ask for something: sockets have their turn before the work of others goes on. That
   * work does not rest, since it may be what the question waits for.
   */
  giveWay(): void {
    if (!this.#others.areWaiting) return;
    this.#urgent.add({ work: () => undefined, isAsked: false });
    this.#arm();
  }

  get #areWaiting(): boolean {
    return this.#urgent.areWaiting || this.#others.areWaiting;
  }

  #arm(): void {
    if (this.#isArmed || !(this.#areWaiting || this.#isTurnOfOthers)) return;
    const restMs = this.#restMs;
    if (restMs > 0) {
      this.#endRest ??= this.#loop.wait(() => {
        this.#endRest = undefined;
        this.#turn();
      }, restMs);
      return;
    }
    this.#endRest?.();
    this.#endRest = undefined;
    this.#isArmed = true;
    this.#loop.yieldTo(() => {
      this.#isArmed = false;
      this.#turn();
    });
  }

  /** For how long nothing is to be done. */
  get #restMs(): number {
    if (this.#urgent.areWaiting || this.#others.areAsked || this.#isTurnOfOthers) return 0;
    const nowMs = this.#loop.nowMs();
    return this.#wasAsked(nowMs) ? Math.max(this.#restEndMs - nowMs, 0) : 0;
  }

  /** Whether somebody asked for something lately. */
  #wasAsked(nowMs: number): boolean {
    return nowMs - this.#askedMs < ASKED_MS;
  }

  #turn(): void {
    const nowMs = this.#loop.nowMs();
    if (this.#isTurnOfOthers) this.#endTurnOfOthers(nowMs);
    try {
      if (this.#areWaiting && this.#restMs === 0) this.#work(nowMs);
    } finally {
      this.#arm();
    }
  }

  #work(nowMs: number): void {
    const isOverdue = this.#others.areWaiting && nowMs - this.#waitingSinceMs >= MAX_WAIT_MS;
    const isUrgent = this.#urgent.areWaiting && !isOverdue;
    if (!isUrgent) {
      this.#isTurnOfOthers = true;
      this.#workedMs = this.#wasAsked(nowMs) ? this.#loop.workedMs() : undefined;
    }
    const hasTime = (): boolean => this.#loop.nowMs() < nowMs + SLICE_MS / 2;
    (isUrgent ? this.#urgent : this.#others).work(hasTime);
  }

  /** The event loop has turned since their work: what they left behind is done too. */
  #endTurnOfOthers(nowMs: number): void {
    const workedMs = this.#workedMs === undefined ? 0 : this.#loop.workedMs() - this.#workedMs;
    this.#isTurnOfOthers = false;
    this.#restEndMs = nowMs + Math.min(workedMs * REST_SHARE, MAX_REST_MS);
    this.#waitingSinceMs = this.#others.areAsked ? nowMs : this.#restEndMs;
  }
}

class Jobs {
  #waiting: Job[] = [];

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether somebody waits for one of them. */
  get areAsked(): boolean {
    return this.#waiting.some(({ isAsked, work }) => isAsked && work !== undefined);
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

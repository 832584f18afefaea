// The queue of a partition: refreshes that are done one at a time. Spec 1.10.
import { performance } from 'node:perf_hooks';
import { EMPTY, Observable, concatMap, defer, filter, map, mergeMap, of, repeat } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { SampleWindow } from '../exposition/sample-window.js';
import type { Durations } from '../exposition/sample-window.js';
import { turns } from './fair-turns.js';

/**
 * So many slices of what somebody waits for go before all else: enough for a small target, even if garbage
 * is collected in some of them.
 */
const MAX_URGENT_SLICES = 4;

export class RefreshQueue {
  readonly #waits = new SampleWindow();
  readonly #now: () => number;
  readonly #yieldTo: (next: () => void, isUrgent: boolean) => void;
  /** Somebody waits for these. */
  readonly #urgent: Lane = { jobs: [], isBusy: false };
  readonly #others: Lane = { jobs: [], isBusy: false };
  readonly #startedMs: number;
  #busyMs = 0;
  #isWorking = false;

  /**
   * @param now milliseconds of a clock that does not step
   * @param yieldTo calls back after others had their turn: soon, if somebody waits for what is next
   */
  constructor(
    now: () => number = () => performance.now(),
    yieldTo: (next: () => void, isUrgent: boolean) => void = (next, isUrgent) =>
      void turns.soon(next, isUrgent),
  ) {
    this.#now = now;
    this.#yieldTo = yieldTo;
    this.#startedMs = now();
  }

  /** Milliseconds of the queue's clock. */
  get nowMs(): number {
    return this.#now();
  }

  /** How long refreshes waited for their turn. */
  get waits(): Durations {
    return this.#waits.durations;
  }

  /** Time spent on refreshes, divided by the time spent waiting for one. */
  get busyIdleRatio(): number {
    const idleMs = this.#now() - this.#startedMs - this.#busyMs;
    return idleMs > 0 ? this.#busyMs / idleMs : 0;
  }

  /**
   * Emits once, in turn; the turn lasts until the emission returns. If it leaves a rest, that is done
   * in further turns, behind those that wait, and this completes after it.
   * @param took called with the milliseconds that all of it lasted
   */
  turn(
    took: (ms: number) => void,
    { askedMs = this.nowMs, isUrgent = false, rest }: TurnParts = {},
  ): Observable<void> {
    return new Observable((subscriber) => {
      const soon = (work: () => void): void => {
        this.#add(lane(), () => {
          slice(work);
        });
      };
      let tookMs = 0;
      let slices = 0;
      const lane = (): Lane =>
        isUrgent && slices < MAX_URGENT_SLICES ? this.#urgent : this.#others;
      const slice = (work: () => void): void => {
        if (subscriber.closed) return;
        slices++;
        const startedMs = this.#now();
        work();
        tookMs += this.#now() - startedMs;
        if (rest?.isOpen === true) {
          soon(() => {
            rest.goOn();
          });
          return;
        }
        took(tookMs);
        subscriber.complete();
      };
      const first = (): void => {
        this.#waits.add(this.#now() - askedMs);
        subscriber.next();
      };
      soon(first);
    });
  }

  /** A lane that rests works at once, unless a refresh of the other one is being done. */
  #add(lane: Lane, job: () => void): void {
    lane.jobs.push(job);
    if (lane.isBusy) return;
    if (this.#isWorking) this.#yield(lane);
    else this.#work(lane);
  }

  /** Others have their turn even if the lane is empty: what is asked for before that would hold them up. */
  #yield(lane: Lane): void {
    lane.isBusy = true;
    this.#yieldTo(() => {
      lane.isBusy = false;
      this.#work(lane);
    }, lane === this.#urgent);
  }

  /** Does the next refresh of a lane. */
  #work(lane: Lane): void {
    const job = lane.jobs.shift();
    if (job === undefined) return;
    lane.isBusy = true;
    const startedMs = this.#now();
    this.#isWorking = true;
    try {
      job();
    } finally {
      this.#isWorking = false;
      this.#busyMs += this.#now() - startedMs;
      this.#yield(lane);
    }
  }
}

/** Refreshes that wait for each other. */
interface Lane {
  readonly jobs: (() => void)[];
  /** Whether one is being done, or others have their turn after it. */
  isBusy: boolean;
}

/** Work that an event left for later, in slices. */
export interface Rest {
  readonly isOpen: boolean;
  /** Does the next slice. */
  goOn(): void;
}

/** How a turn is taken. */
interface TurnParts {
  /** When the wait began, by `nowMs` of the queue. */
  readonly askedMs?: number;
  /** Whether its first part goes before all that nobody waits for; its rest does not. */
  readonly isUrgent?: boolean | undefined;
  readonly rest?: Rest | undefined;
}

/** How the events of one source wait. Without `merged`, those of a fast source pile up. */
export interface TurnRules<T> {
  /** Merges an event that waits with a later one, or returns undefined to keep both. */
  readonly merged?: (waiting: T, next: T) => T | undefined;
  /** Called when an event has its turn, before it is passed on. It may bring more events. */
  readonly prepare?: (event: T) => void;
  /** Whether a waiting event is passed on in the turn of another, before that one. */
  readonly precedes?: (waiting: T, event: T) => boolean;
  /**
   * Whether an event whose turn it is has to wait for another one, as what it needs is not all there.
   * What precedes it is passed on all the same.
   * @param waitedMs since the event arrived
   */
  readonly isEarly?: (event: T, waitedMs: number) => boolean;
  /** What the stages behind leave of an event: the next one is passed on after it. */
  readonly rest?: Rest;
  /** Whether somebody waits for an event: it goes before events of other sources, and before what they left. */
  readonly isUrgent?: (event: T) => boolean;
}

interface Ticket<T> {
  event: T;
  readonly askedMs: number;
  /** Whether its event was passed on in the turn of another. */
  isUsed: boolean;
  /** Whether it had a turn and has to wait for another event: it does so behind those that wait. */
  wasEarly: boolean;
}

/** Passes each event on in its turn, so that the stages behind it do one refresh at a time. */
export function inTurn<T>(
  queue: RefreshQueue,
  took: (ms: number) => void,
  rules: TurnRules<T> = {},
): MonoTypeOperatorFunction<T> {
  const { merged, prepare, precedes, rest } = rules;
  return (event$) =>
    defer(() => {
      let waiting: Ticket<T>[] = [];
      const admit = (event: T): Ticket<T> | undefined => {
        for (const each of waiting) {
          const both = merged?.(each.event, event);
          if (both === undefined) continue;
          each.event = both;
          return undefined;
        }
        const ticket = { event, askedMs: queue.nowMs, isUsed: false, wasEarly: false };
        waiting.push(ticket);
        return ticket;
      };
      const use = (ticket: Ticket<T>): T => {
        ticket.isUsed = true;
        waiting = waiting.filter((each) => each !== ticket);
        return ticket.event;
      };
      const eventsOf = (ticket: Ticket<T>): readonly T[] => {
        const { event, askedMs } = ticket;
        prepare?.(event);
        const before = waiting.filter((each) => precedes?.(each.event, event) === true);
        ticket.wasEarly = rules.isEarly?.(event, queue.nowMs - askedMs) === true;
        return [...before, ...(ticket.wasEarly ? [] : [ticket])].map(use);
      };
      const turn = (ticket: Ticket<T>): Observable<T> =>
        defer(() => {
          const isUrgent = !ticket.wasEarly && rules.isUrgent?.(ticket.event);
          return queue.turn(took, { askedMs: ticket.askedMs, isUrgent, rest });
        }).pipe(mergeMap(() => eventsOf(ticket)));
      const again = (ticket: Ticket<T>) => ({ delay: () => (ticket.isUsed ? EMPTY : of(true)) });
      return event$.pipe(
        map(admit),
        filter((ticket) => ticket !== undefined),
        concatMap((ticket) => (ticket.isUsed ? EMPTY : turn(ticket).pipe(repeat(again(ticket))))),
      );
    });
}

// The inputs that wait for a target, and the turns that take them in, one after the other.
import { EMPTY, Observable, defer, filter, mergeAll, mergeMap, of, repeat } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { RefreshQueue } from './refresh-queue.js';
import type { Refresh } from './report.js';
import type { PollResult } from './watch.js';

/** A poll result of a target's segment. */
export interface Change {
  readonly kind: 'change';
  readonly pollResult: PollResult;
  /** Number of poll results so far that brought structure. */
  readonly number: number;
}

/** The next part of the tree is to be bound. */
export interface Bind {
  readonly kind: 'bind';
}

/** The inputs of a target that has a root. */
export type TargetInput = Refresh | Change | Bind;

/**
 * Emits at once, and whenever there is more to bind.
 * @param whenMore calls back whenever there is more; returns a function that ends that
 */
export const unbound$ = (whenMore: (wake: () => void) => () => void): Observable<Bind> =>
  new Observable((subscriber) => {
    const bind = (): void => {
      subscriber.next({ kind: 'bind' });
    };
    const end = whenMore(bind);
    bind();
    return end;
  });

/** Holds inputs until the next turn. It merges waiting changes, so that a fast publisher costs one turn at a time. */
class Inbox {
  #change: Change | undefined;
  #bind: Bind | undefined;
  #refresh: Refresh | undefined;
  /** When the first waiting input came. */
  sinceMs = 0;

  get isEmpty(): boolean {
    return [this.#change, this.#bind, this.#refresh].every((input) => input === undefined);
  }

  get refresh(): Refresh | undefined {
    return this.#refresh;
  }

  add(input: TargetInput, nowMs: number): void {
    if (this.isEmpty) this.sinceMs = nowMs;
    if (input.kind === 'change') this.#change = merged(this.#change, input);
    else if (input.kind === 'bind') this.#bind = input;
    else this.#refresh = input;
  }

  /** Removes and returns all inputs but the refresh. */
  takeStructure(): readonly TargetInput[] {
    const structure = [this.#bind, this.#change].filter((input) => input !== undefined);
    this.#change = this.#bind = undefined;
    return structure;
  }

  removeRefresh(): void {
    this.#refresh = undefined;
  }
}

/** The later change with the structure of both. */
function merged(first: Change | undefined, next: Change): Change {
  if (first === undefined) return next;
  const changes = first.pollResult.changes.concat(next.pollResult.changes);
  return { ...next, pollResult: { ...next.pollResult, changes } };
}

export interface TurnParts<T> {
  /** Takes in one input. */
  readonly takeIn: (input: TargetInput) => Generator<void, T>;
  /** Polls the segment for a refresh whose turn has come; the poll may bring a change. */
  readonly look: () => void;
  /** Whether a refresh has to poll again, since its page would not be complete. */
  readonly isEarly: () => boolean;
  /** A turn took that many milliseconds. */
  readonly took: (ms: number) => void;
}

/** For so many milliseconds at most an early refresh polls again. */
const MAX_EARLY_MS = 1000;

/**
 * Takes inputs in, one turn after the other. A turn takes all waiting inputs: the next part of the tree and
 * changes first, then a refresh, so that it shows the moment of its turn.
 */
export const inTurn =
  <T>(queue: RefreshQueue, parts: TurnParts<T>): OperatorFunction<TargetInput, T> =>
  (input$) =>
    defer(() => {
      const inbox = new Inbox();
      let hasTurn = false;
      const add = (input: TargetInput): boolean => {
        inbox.add(input, queue.nowMs);
        const isFirst = !hasTurn;
        hasTurn = true;
        return isFirst;
      };
      const again = (): Observable<true> => {
        hasTurn = !inbox.isEmpty;
        return hasTurn ? of(true) : EMPTY;
      };
      const turn$ = defer(() =>
        queue.run({
          steps: () => turn(inbox, queue, parts),
          sinceMs: inbox.sinceMs,
          isUrgent: () => inbox.refresh !== undefined,
          took: parts.took,
        }),
      );
      return input$.pipe(
        filter(add),
        mergeMap(() => turn$.pipe(repeat({ delay: again }))),
        mergeAll(),
      );
    });

/** Yields after each poll: a poll that shows the loss of the root cancels the turn. */
function* turn<T>(
  inbox: Inbox,
  queue: RefreshQueue,
  { look, takeIn, isEarly }: TurnParts<T>,
): Generator<void, readonly T[]> {
  const startedMs = queue.nowMs;
  const taken: T[] = [];
  const { refresh } = inbox;
  do {
    if (refresh !== undefined) {
      look();
      yield;
    }
    for (const input of inbox.takeStructure()) {
      if (taken.length > 0) yield;
      taken.push(yield* takeIn(input));
    }
  } while (refresh !== undefined && isEarly() && queue.nowMs - startedMs < MAX_EARLY_MS);
  if (refresh === undefined) return taken;
  taken.push(yield* takeIn(refresh));
  inbox.removeRefresh();
  return taken;
}

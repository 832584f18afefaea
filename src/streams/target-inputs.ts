// The inputs of a target. Its partition processes them in tasks.
import { EMPTY, Observable, defer, filter, mergeAll, mergeMap, of, repeat } from 'rxjs';
import type { OperatorFunction } from 'rxjs';
import type { LineForm } from '../model.js';
import type { TaskQueue } from './task-queue.js';
import type { PollResult } from './poller.js';

/**
 * A command to copy the current values, and to render them if their text changed and `mayRender` is true. One report
 * answers a refresh.
 */
export interface Refresh {
  readonly kind: 'refresh';
  readonly mayRender: boolean;
  /** The forms in which the demands need the lines. */
  readonly forms?: readonly LineForm[];
}

/** A poll result of the root's server key. */
export interface PollInput {
  readonly kind: 'poll';
  readonly pollResult: PollResult;
  /** The number of poll results with changes of structure so far. */
  readonly number: number;
}

export type TargetInput =
  | Refresh
  | PollInput
  /** Binds the next part of the tree. */
  | { readonly kind: 'bind' };

/** The inputs of the next task. Merges poll results, so that a fast publisher adds one task at a time. */
class PendingInputs {
  #pollInput: PollInput | undefined;
  #bind: TargetInput | undefined;
  #refresh: Refresh | undefined;
  /** The time at which the first pending input arrived. */
  sinceMs = 0;

  get isEmpty(): boolean {
    return [this.#pollInput, this.#bind, this.#refresh].every((input) => input === undefined);
  }

  get refresh(): Refresh | undefined {
    return this.#refresh;
  }

  add(input: TargetInput, nowMs: number): void {
    if (this.isEmpty) this.sinceMs = nowMs;
    if (input.kind === 'poll') this.#pollInput = merged(this.#pollInput, input);
    else if (input.kind === 'bind') this.#bind = input;
    else this.#refresh = input;
  }

  /** Removes and returns all inputs except the refresh. */
  takeStructure(): readonly TargetInput[] {
    const structure = [this.#bind, this.#pollInput].filter((input) => input !== undefined);
    this.#pollInput = this.#bind = undefined;
    return structure;
  }

  removeRefresh(): void {
    this.#refresh = undefined;
  }
}

/** Merges two poll results into the later one, with the structure changes of both. */
function merged(first: PollInput | undefined, next: PollInput): PollInput {
  if (first === undefined) return next;
  const changes = first.pollResult.changes.concat(next.pollResult.changes);
  return { ...next, pollResult: { ...next.pollResult, changes } };
}

export interface InputProcessing<T> {
  readonly process: (input: TargetInput) => Generator<void, T>;
  /** Polls the server keys for a refresh. The poll results arrive as inputs. */
  readonly poll: () => void;
  /** Whether the page of a refresh would lack objects. If so, the refresh polls again. */
  readonly isPageIncomplete: () => boolean;
  /** Called with the duration of each task. */
  readonly onTaskEnd: (tookMs: number) => void;
}

/** The longest time for which a refresh repeats its poll. */
const MAX_REPOLL_MS = 1000;

/**
 * Processes all pending inputs in one task, and inputs that arrive during a task in the next one. The refresh comes
 * after the bind and the poll result, so that it copies the newest values.
 */
export const processInputs =
  <T>(queue: TaskQueue, parts: InputProcessing<T>): OperatorFunction<TargetInput, T> =>
  (input$) =>
    defer(() => {
      const pending = new PendingInputs();
      let isRunning = false;
      const isFirst = (input: TargetInput): boolean => {
        pending.add(input, queue.nowMs);
        const wasRunning = isRunning;
        isRunning = true;
        return !wasRunning;
      };
      const whilePending = (): Observable<true> => {
        isRunning = !pending.isEmpty;
        return isRunning ? of(true) : EMPTY;
      };
      const task$ = defer(() =>
        queue.run({
          steps: () => processPending(pending, queue, parts),
          sinceMs: pending.sinceMs,
          isUrgent: () => pending.refresh !== undefined,
          onEnd: parts.onTaskEnd,
        }),
      );
      return input$.pipe(
        filter(isFirst),
        mergeMap(() => task$.pipe(repeat({ delay: whilePending }))),
        mergeAll(),
      );
    });

/** Processes the pending inputs. Yields after each poll, so that a poll that finds no root can cancel the task. */
function* processPending<T>(
  pending: PendingInputs,
  queue: TaskQueue,
  { poll, process, isPageIncomplete }: InputProcessing<T>,
): Generator<void, readonly T[]> {
  const startedMs = queue.nowMs;
  const results: T[] = [];
  const { refresh } = pending;
  do {
    if (refresh !== undefined) {
      poll();
      yield;
    }
    for (const input of pending.takeStructure()) {
      if (results.length > 0) yield;
      results.push(yield* process(input));
    }
  } while (refresh !== undefined && isPageIncomplete() && queue.nowMs - startedMs < MAX_REPOLL_MS);
  if (refresh === undefined) return results;
  results.push(yield* process(refresh));
  pending.removeRefresh();
  return results;
}

// The tasks of a target that has a root: they copy values, check readiness and render.
import type { TargetView } from '../exposition/target-view.js';
import type { Refresh, Snapshot, Source } from '../model.js';
import type { PollResult } from './poller.js';

export type TargetInput =
  | Refresh
  /** A poll result of the root's server key. */
  | { readonly kind: 'poll'; readonly pollResult: PollResult }
  /** Binds the next part of the tree. */
  | { readonly kind: 'bind' };

/** The result of an input: the state of the view after it. */
export interface ProcessedInput {
  readonly kind: 'processed';
  readonly input: TargetInput;
  /** Whether the root has been synced completely once. Spec 3. */
  readonly isReady: boolean;
  readonly hasRendered: boolean;
  /** Whether a render now would produce a different text; known after the first full sync. */
  readonly isDirty: boolean;
  /** The last text. It stays valid until the next render. */
  readonly snapshot: Snapshot | undefined;
}

/** The poll of a refresh found that the root is lost. */
const LOST = { kind: 'lost' } as const;
type TaskResult = ProcessedInput | typeof LOST;

/** The part of a view that a refresh needs. */
export type RefreshableView = Pick<
  TargetView,
  | 'bindMore'
  | 'applyChanges'
  | 'copyingValues'
  | 'observe'
  | 'hasObserved'
  | 'hasMore'
  | 'isSynced'
  | 'demand'
  | 'lacksForm'
  | 'rendering'
>;

/** The longest time for which a refresh repeats its poll. */
const MAX_REPOLL_MS = 1000;

/**
 * Refreshes the view of a target. A refresh of a ready target copies the values, and renders them if the text has
 * changed and the refresh allows it. Before the first full sync, each input copies values. Afterwards, a poll result
 * copies values only if the publisher has notified and the view observes variables.
 */
export class ViewRefresher {
  readonly #view: RefreshableView;
  readonly #source: Pick<Source, 'hasChanges'>;
  readonly #nowMs: () => number;
  /** The inputs of the next task. Poll results are merged, so that a fast publisher adds one task at a time. */
  #bind: TargetInput | undefined;
  #poll: PollResult | undefined;
  /** The refresh that has no result yet. */
  #refresh: Refresh | undefined;
  /** The last poll result that has arrived, and the last one that the view has processed. */
  #arrived: PollResult | undefined;
  #processed: PollResult | undefined;
  /** The numbers of the reads of the directory up to these poll results. */
  #arrivedRead = 0;
  #processedRead = 0;
  #isReady = false;
  /** The read that completes the first full sync, even if the directory has new records. */
  #lastRead = Infinity;
  #isProcessing = false;
  #snapshot: Snapshot | undefined;
  #release = (): void => undefined;

  /** @param nowMs milliseconds of a monotonic clock */
  constructor(view: RefreshableView, source: Pick<Source, 'hasChanges'>, nowMs: () => number) {
    this.#view = view;
    this.#source = source;
    this.#nowMs = nowMs;
  }

  /** Whether the root has been synced completely once. Spec 3. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get hasRefresh(): boolean {
    return this.#refresh !== undefined;
  }

  /** Adds an input to the next task. */
  add(input: TargetInput): void {
    if (input.kind === 'bind') this.#bind = input;
    else if (input.kind === 'poll') this.#addPoll(input.pollResult);
    else this.#refresh = input;
  }

  /**
   * Processes the inputs so far. A refresh comes after the bind and the poll result, so that it copies the newest
   * values. It polls first, and again while the directory is being read, since the page would otherwise lack objects.
   * @param poll polls the server keys, and returns the result for the key of the root; undefined if the root is lost
   */
  *task(poll: () => PollResult | undefined): Generator<void, readonly TaskResult[]> {
    const startMs = this.#nowMs();
    const results: TaskResult[] = [];
    const refresh = this.#refresh;
    do {
      if (refresh !== undefined) {
        const pollResult = poll();
        if (pollResult === undefined) return [...results, LOST];
        this.#addPoll(pollResult);
        yield;
      }
      const read = this.#arrivedRead;
      for (const input of this.#takeStructure()) {
        if (results.length > 0) yield;
        results.push(yield* this.process(input, read));
      }
    } while (
      refresh !== undefined &&
      this.#isPageIncomplete &&
      this.#nowMs() - startMs < MAX_REPOLL_MS
    );
    if (refresh === undefined) return results;
    results.push(yield* this.process(refresh));
    this.#refresh = undefined;
    return results;
  }

  /**
   * Processes an input in steps. No other call may use the view before the last step.
   * @param read the number of the last read of the directory that the input includes
   */
  *process(input: TargetInput, read = this.#arrivedRead): Generator<void, ProcessedInput> {
    if (this.#isProcessing) throw new Error('The inputs of a target overlap');
    this.#isProcessing = true;
    const view = this.#view;
    let isNotified = false;
    if (input.kind === 'poll') {
      const { changes, notifications } = input.pollResult;
      view.applyChanges(changes);
      yield;
      const last = this.#processed?.notifications;
      isNotified = last !== undefined && last !== notifications;
      this.#processed = input.pollResult;
      this.#processedRead = read;
    }
    if (input.kind === 'refresh') view.demand(input);
    if (input.kind === 'bind' && view.bindMore()) yield;
    const isDirty = yield* this.#copy(input, isNotified && view.hasObserved);
    if (!this.#isReady && view.isSynced && !this.#hasMore) this.#isReady = this.#hasSyncedAll();
    const hasRendered = yield* this.#render(input, isDirty);
    this.#isProcessing = false;
    return {
      kind: 'processed',
      input,
      isReady: this.#isReady,
      hasRendered,
      isDirty: isDirty && !hasRendered,
      snapshot: this.#snapshot,
    };
  }

  /** Releases the last text. */
  release(): void {
    this.#release();
    this.#release = () => undefined;
    this.#snapshot = undefined;
  }

  get #isPageIncomplete(): boolean {
    return this.#isReady && this.#hasMore && this.#processed?.isUnstable !== true;
  }

  /** Whether the directory had unread records at the last processed poll. */
  get #hasMore(): boolean {
    return this.#processed?.hasMore ?? true;
  }

  /** Adds a poll result, unless it is the last one. The merged result has the structure changes of all. */
  #addPoll(pollResult: PollResult): void {
    if (pollResult === this.#arrived) return;
    this.#arrived = pollResult;
    if (pollResult.changes.length > 0 || pollResult.hasMore) this.#arrivedRead++;
    const changes = this.#poll?.changes.concat(pollResult.changes) ?? pollResult.changes;
    this.#poll = { ...pollResult, changes };
  }

  /** Removes and returns the inputs except the refresh. */
  #takeStructure(): readonly TargetInput[] {
    const [bind, pollResult] = [this.#bind, this.#poll];
    this.#bind = this.#poll = undefined;
    const poll = pollResult && ({ kind: 'poll', pollResult } as const);
    return [bind, poll].filter((input) => input !== undefined);
  }

  /** Copies values if the input needs them. Returns true if a render would produce a different text. */
  *#copy(input: TargetInput, observes: boolean): Generator<void, boolean> {
    const view = this.#view;
    const isTreeIncomplete = () => this.#hasMore || view.hasMore;
    const isForced = observes || (this.#isReady && input.kind === 'refresh');
    // While the tree is incomplete, only go on with it. That may bind the last node, so the next line checks again.
    if (!isForced && isTreeIncomplete()) view.bindMore();
    const copies = isForced || (!this.#isReady && !isTreeIncomplete());
    const isChanged = copies && (yield* view.copyingValues());
    return observes ? view.observe() : isChanged;
  }

  /**
   * Whether the first full sync is complete, after an input that left all nodes synced. The publisher may have added
   * objects after the last read of the directory and before the copy of the words. If so, the target waits for one
   * later read.
   */
  #hasSyncedAll(): boolean {
    if (this.#processedRead === this.#arrivedRead && !this.#source.hasChanges()) return true;
    this.#lastRead = Math.min(this.#lastRead, this.#arrivedRead + 1);
    return this.#processedRead >= this.#lastRead;
  }

  /** Renders if the input allows it and the text is dirty or lacks a form. Returns whether it rendered. */
  *#render(input: TargetInput, isDirty: boolean): Generator<void, boolean> {
    if (input.kind !== 'refresh' || !input.mayRender || !this.#isReady) return false;
    if (!isDirty && !this.#view.lacksForm) return false;
    // Release the last text first, so that blocks reuse memory that is still in the CPU cache.
    this.release();
    const next = yield* this.#view.rendering();
    this.#release = next.hold();
    this.#snapshot = next;
    return true;
  }
}

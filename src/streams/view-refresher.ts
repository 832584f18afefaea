// Processes the inputs of a target: copies values, opens the startup gate, renders.
import type { TargetView } from '../exposition/target-view.js';
import type { Encodings, Snapshot, Source } from '../model.js';
import type { Change, TargetInput } from './target-inputs.js';
import type { PollResult } from './watch.js';

/** The state of a target's view after it processed an input. */
export interface Refreshed {
  readonly kind: 'refreshed';
  readonly input: TargetInput;
  /** Whether the root has been synced completely once; a new root begins again. Spec 3. */
  readonly isReady: boolean;
  /** The number of the publisher's last wake-up; undefined before the first. */
  readonly tick: number | undefined;
  readonly hasRendered: boolean;
  /** Whether a render now would produce a different text; known after the first full sync. */
  readonly isDirty: boolean;
  /** The last text, which stays until the next render. */
  readonly snapshot: Snapshot | undefined;
}

/** The part of a view that a refresh needs. */
export type RefreshableView = Pick<
  TargetView,
  | 'bindMore'
  | 'applyChanges'
  | 'copyingValues'
  | 'copyNewValues'
  | 'observe'
  | 'hasObserved'
  | 'hasMore'
  | 'isSynced'
  | 'rendering'
>;

/**
 * Processes the inputs of a target. A refresh copies the values, and renders them if it may and the text
 * has changed; while the tree still grows before the first full sync, nothing can be served. A change copies
 * values only until the first full sync, and observed variables at each wake-up.
 */
export class ViewRefresher {
  readonly #view: RefreshableView;
  readonly #source: Pick<Source, 'hasChanges'>;
  #isReady = false;
  #tick: number | undefined;
  /** The numbers of the last change that arrived, of the last one that was processed, and of the one to wait for. */
  #arrived = 0;
  #processed = 0;
  #awaited = Infinity;
  #hasMore = true;
  #isUnstable = false;
  #snapshot: Snapshot | undefined;
  #release = (): void => undefined;

  constructor(view: RefreshableView, source: Pick<Source, 'hasChanges'>) {
    this.#view = view;
    this.#source = source;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether a page of a ready target would lack objects of a directory that is still being read. */
  get isPartial(): boolean {
    return this.#isReady && this.#hasMore && !this.#isUnstable;
  }

  /** The input for a poll result that arrives. */
  change(pollResult: PollResult): Change {
    if (pollResult.changes.length > 0 || pollResult.hasMore) this.#arrived++;
    return { kind: 'change', pollResult, number: this.#arrived };
  }

  /** Processes an input. No other call may use the view before the last step. */
  *process(input: TargetInput): Generator<void, Refreshed> {
    const view = this.#view;
    let isWakeUp = false;
    if (input.kind === 'change') {
      const { changes, tick, hasMore, isUnstable = false } = input.pollResult;
      view.applyChanges(changes);
      yield;
      isWakeUp = this.#tick !== undefined && this.#tick !== tick;
      [this.#processed, this.#tick, this.#hasMore] = [input.number, tick, hasMore];
      this.#isUnstable = isUnstable;
    }
    if (input.kind === 'bind' && view.bindMore()) yield;
    const isDirty = yield* this.#copy(input, isWakeUp && view.hasObserved);
    this.#isReady ||= view.isSynced && !this.#hasMore && this.#isWhole();
    const hasRendered = yield* this.#render(input, isDirty);
    return {
      kind: 'refreshed',
      input,
      isReady: this.#isReady,
      tick: this.#tick,
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

  /** Copies values if the input needs them; true if the text would differ. */
  *#copy(input: TargetInput, observes: boolean): Generator<void, boolean> {
    const view = this.#view;
    const isGrowing = () => this.#hasMore || view.hasMore;
    const isWanted = observes || (this.#isReady && input.kind === 'refresh');
    // While a tree is still growing, only new items are copied. That may bind the last of them.
    if (!isWanted && isGrowing()) view.copyNewValues();
    const copies = isWanted || (!this.#isReady && !isGrowing());
    const isChanged = copies && (yield* view.copyingValues());
    return observes ? view.observe() : isChanged;
  }

  /**
   * Whether the whole tree is known. Objects may have been added between the read of the directory and the
   * copy of the words, so the directory must have nothing new, or a later read must have been processed.
   */
  #isWhole(): boolean {
    if (this.#processed >= this.#awaited) return true;
    if (this.#processed === this.#arrived && !this.#source.hasChanges()) return true;
    this.#awaited = Math.min(this.#awaited, this.#arrived + 1);
    return false;
  }

  /** Renders if the input may render and needs it; true if the text is a new one. */
  *#render(input: TargetInput, isDirty: boolean): Generator<void, boolean> {
    if (input.kind !== 'refresh' || !input.mayRender || !this.#isReady) return false;
    // The same text in another form is not a new one.
    const isLacking =
      this.#snapshot !== undefined && lacks(this.#snapshot.encodings, input.encodings);
    if (!isDirty && !isLacking) return false;
    // Release the last text first, so that blocks reuse memory that is still in the cache.
    this.release();
    const next = yield* this.#view.rendering(input.encodings);
    this.#release = next.hold();
    this.#snapshot = next;
    return isDirty;
  }
}

const lacks = (has: Encodings, wanted: Encodings | undefined): boolean =>
  wanted !== undefined && ((wanted.text && !has.text) || (wanted.deflated && !has.deflated));

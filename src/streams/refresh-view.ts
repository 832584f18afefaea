// Takes inputs into a target's view, and renders its text where a refresh may and the text has changed.
import type { TargetView } from '../exposition/target-view.js';
import type { Forms, Snapshot } from '../model.js';
import type { TargetInput } from './inbox.js';

/** A target's view after it took in an input. */
interface Refreshed {
  readonly input: TargetInput;
  /** Whether the text would differ from the last render; known of a refresh after the first sync. */
  readonly isDirty: boolean;
  /** The startup gate: from the first full sync on, whatever objects come later. Spec 3. */
  readonly isReady: boolean;
  /** The publisher's wake-up that was taken in last. */
  readonly tick: number | undefined;
}

/** What a refresh needs of a target's view. */
export type Refreshes = Pick<
  TargetView,
  | 'bindMore'
  | 'absorb'
  | 'refreshing'
  | 'refreshFresh'
  | 'observe'
  | 'hasObserved'
  | 'hasMore'
  | 'isSynced'
>;

/** How much of a source's structure has been seen. */
export interface Structure {
  /** Number of poll results that brought structure, taken in or not. */
  readonly pollResults: number;
  /** Whether the source has structure that no poll result has brought. */
  hasChanges(): boolean;
}

/**
 * Takes in one input after the other. A refresh copies the values, unless the tree is still growing before
 * the first full sync, where nothing can be served. A change copies them only where that is needed: until
 * the first full sync, and for observed variables at a wake-up of the publisher.
 */
export class ViewRefresher {
  readonly #view: Refreshes;
  readonly #isWhole: (number: number) => boolean;
  #isReady = false;
  #tick: number | undefined;
  /** Number of the last change that was taken in. */
  #number = 0;
  #hasMore = true;
  #isUnstable = false;

  constructor(view: Refreshes, structure: Structure) {
    this.#view = view;
    this.#isWhole = wholeness(structure);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether a page of a ready target would lack objects, as its directory is being read. */
  get isPartial(): boolean {
    return this.#isReady && this.#hasMore && !this.#isUnstable;
  }

  /** Takes an input in. The view may not be used otherwise before the last step. */
  *take(input: TargetInput): Generator<void, Refreshed> {
    const view = this.#view;
    let hasMoved = false;
    if (input.kind === 'change') {
      const { changes, tick, hasMore, isUnstable = false } = input.pollResult;
      view.absorb(changes);
      yield;
      hasMoved = this.#tick !== undefined && this.#tick !== tick;
      [this.#number, this.#tick, this.#hasMore] = [input.number, tick, hasMore];
      this.#isUnstable = isUnstable;
    }
    if (input.kind === 'bind' && view.bindMore()) yield;
    const observes = hasMoved && view.hasObserved;
    const isDirty = yield* this.#copying(input, observes);
    this.#isReady ||= view.isSynced && !this.#hasMore && this.#isWhole(this.#number);
    return { input, isDirty, isReady: this.#isReady, tick: this.#tick };
  }

  /** Copies values if the input needs them; true if the text would differ. */
  *#copying(input: TargetInput, observes: boolean): Generator<void, boolean> {
    const view = this.#view;
    const isGrowing = () => this.#hasMore || view.hasMore;
    const isWanted = observes || (this.#isReady && input.kind === 'refresh');
    // While a tree is still growing, only what is new in it is copied. That may bind the last of it.
    if (!isWanted && isGrowing()) view.refreshFresh();
    const copies = isWanted || (!this.#isReady && !isGrowing());
    const isChanged = copies && (yield* view.refreshing());
    return observes ? view.observe() : isChanged;
  }
}

/**
 * Makes a check that all of the tree is known. Objects may have been added between the read of the
 * directory and the copy of the words. We are sure once the directory has nothing new, or after a
 * later read.
 */
function wholeness(structure: Structure): (number: number) => boolean {
  let pollResultsThen: number | undefined;
  return (number) => {
    if (pollResultsThen !== undefined && number > pollResultsThen) return true;
    if (number === structure.pollResults && !structure.hasChanges()) return true;
    pollResultsThen ??= structure.pollResults;
    return false;
  };
}

/** The part of a target's view that renders. */
export type RenderableView = Pick<TargetView, 'rendering'>;

/** A view after a refresh, and its text. */
export interface Rendered extends Refreshed {
  readonly kind: 'refreshed';
  readonly hasRendered: boolean;
  /** Whether the text would differ if it were rendered now. */
  readonly isDirty: boolean;
  /** The last render; it stays until the next. */
  readonly snapshot: Snapshot | undefined;
}

export class ViewRenderer {
  readonly #view: RenderableView;
  #snapshot: Snapshot | undefined;
  #release = (): void => undefined;

  constructor(view: RenderableView) {
    this.#view = view;
  }

  /** Renders if the refresh needs a new text. The view may not be used otherwise before the last step. */
  *render({ input, isDirty, isReady, tick }: Refreshed): Generator<void, Rendered> {
    const mayRender = input.kind === 'refresh' && input.mayRender && isReady;
    const forms = input.kind === 'refresh' ? input.forms : undefined;
    const hasRendered = mayRender && isDirty;
    // The same text in another form is not a new one.
    const isLacking = this.#snapshot !== undefined && lacks(this.#snapshot.forms, forms);
    if (hasRendered || (mayRender && isLacking)) {
      // Release the last text first, so that blocks reuse memory that is still in the cache.
      this.release();
      const next = yield* this.#view.rendering(forms);
      this.#release = next.hold();
      this.#snapshot = next;
    }
    return {
      kind: 'refreshed',
      input,
      isReady,
      tick,
      hasRendered,
      isDirty: isDirty && !hasRendered,
      snapshot: this.#snapshot,
    };
  }

  /** Forgets the last text. */
  release(): void {
    this.#release();
    this.#release = () => undefined;
    this.#snapshot = undefined;
  }
}

const lacks = (has: Forms, wanted: Forms | undefined): boolean =>
  wanted !== undefined && ((wanted.text && !has.text) || (wanted.deflated && !has.deflated));

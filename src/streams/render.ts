// Renders if a refresh may and the text has changed, and keeps the last text.
import type { TargetView } from '../exposition/target-view.js';
import type { Forms, Snapshot } from '../model.js';
import type { Refreshed } from './refresh-view.js';

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

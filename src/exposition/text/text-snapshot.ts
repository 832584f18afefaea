// The text of a target at one moment: pieces of groups of families, and what is made of them where it is wanted.
import { Fault } from '../../errors.js';
import type { FamilyFacts, FamilyText, Forms, Snapshot } from '../../model.js';
import type { Shown } from './family-group.js';

export class TextSnapshot implements Snapshot {
  readonly facts: readonly FamilyFacts[];
  readonly bytes: number;
  readonly series: number;
  readonly forms: Forms;
  readonly code: readonly number[] | undefined;
  readonly hasForbidden: boolean | undefined;
  readonly #groups: readonly Shown[];
  #families: readonly FamilyText[] | undefined;
  #page: readonly Uint8Array[] | undefined;
  #holders = 0;

  /** @param groups in the order of the page */
  constructor(
    groups: readonly Shown[],
    {
      facts,
      series,
      forms,
      code,
      hasForbidden,
    }: Pick<Snapshot, 'facts' | 'series' | 'forms' | 'code' | 'hasForbidden'>,
  ) {
    this.facts = facts;
    this.series = series;
    this.forms = forms;
    this.code = code;
    this.hasForbidden = hasForbidden;
    this.#groups = groups;
    let bytes = 0;
    for (const group of groups) bytes += group.bytes;
    this.bytes = bytes;
  }

  get families(): readonly FamilyText[] {
    return (this.#families ??= this.#groups.flatMap(({ families }) => families));
  }

  get page(): readonly Uint8Array[] | undefined {
    return this.forms.text ? (this.#page ??= this.#asPage()) : undefined;
  }

  /**
   * Its pieces have one holder for all who hold the snapshot.
   * @throws Fault NATIVE_FAILED if a later render or the end has freed the text already
   */
  hold(): () => void {
    if (this.#holders === 0) this.#holdPieces();
    this.#holders++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#holders === 0) this.#releasePieces();
    };
  }

  #asPage(): readonly Uint8Array[] {
    const page: Uint8Array[] = [];
    for (const { texts } of this.#groups) for (const { view } of texts) page.push(view);
    return page;
  }

  #holdPieces(): void {
    for (const { pieces } of this.#groups)
      for (const { isGone } of pieces)
        if (isGone)
          throw new Fault('NATIVE_FAILED', 'The text is gone: hold it before the next render');
    for (const { pieces } of this.#groups) for (const piece of pieces) piece.hold();
  }

  #releasePieces(): void {
    for (const { pieces } of this.#groups) for (const piece of pieces) piece.release();
  }
}

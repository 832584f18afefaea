// A snapshot in the memory of another thread, given back when nobody here holds it any more.
import { Fault } from '../../errors.js';
import type { FamilyFacts, FamilyText, Forms, Snapshot } from '../../model.js';

export class BorrowedSnapshot implements Snapshot {
  readonly id: number;
  readonly facts: readonly FamilyFacts[];
  readonly families: readonly FamilyText[];
  readonly page: readonly Uint8Array[] | undefined;
  readonly bytes: number;
  readonly series: number;
  readonly forms: Forms;
  readonly code: readonly number[] | undefined;
  readonly hasForbidden: boolean | undefined;
  readonly #giveBack: (id: number, times: number) => void;
  /** How often it was lent and not given back. */
  #lent = 0;
  #holders = 0;

  constructor(
    {
      id,
      facts,
      families,
      page,
      bytes,
      series,
      forms,
      code,
      hasForbidden,
    }: Pick<
      BorrowedSnapshot,
      'id' | 'facts' | 'families' | 'page' | 'bytes' | 'series' | 'forms' | 'code' | 'hasForbidden'
    >,
    giveBack: (id: number, times: number) => void,
  ) {
    this.id = id;
    this.facts = facts;
    this.families = families;
    this.page = page;
    this.bytes = bytes;
    this.series = series;
    this.forms = forms;
    this.code = code;
    this.hasForbidden = hasForbidden;
    this.#giveBack = giveBack;
  }

  /** Takes note that it was lent once more, while `use` looks at it. */
  lend(use: () => void): void {
    this.#lent++;
    this.#holders++;
    try {
      use();
    } finally {
      this.#release();
    }
  }

  /** @throws Fault NATIVE_FAILED when it was given back already */
  hold(): () => void {
    if (this.#holders === 0)
      throw new Fault('NATIVE_FAILED', 'The text is gone: hold it while it is lent');
    this.#holders++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  #release(): void {
    if (--this.#holders > 0) return;
    this.#giveBack(this.id, this.#lent);
    this.#lent = 0;
  }
}

// The labels that lines of one object have in common.
import type { Kernel } from '../kernel/kernel.js';
import { SharedText } from '../kernel/shared-text.js';
import { joinLabels, labelsPart } from '../text/labels.js';

export interface LabelText {
  /** As `labelsText` gives it. */
  readonly text: string;
  /** As it stands in a line. */
  readonly shared: SharedText;
}

/** Labels without a line are first removed when there are so many labels, and again whenever their number doubles. */
const MANY = 256;

/** The labels of one object, and those with labels of a row behind them; each is kept once. */
export class ObjectLabels {
  readonly #kernel: Kernel;
  readonly #first: LabelText;
  #others: Map<string, LabelText> | undefined;
  #most = MANY;

  /** @param text as `labelsText` gives it */
  constructor(kernel: Kernel, text: string) {
    this.#kernel = kernel;
    this.#first = { text, shared: new SharedText(kernel.texts, labelsPart(text)) };
  }

  /** With these labels behind those of the object. */
  with(own: string): LabelText {
    if (own === '') return this.#first;
    const others = (this.#others ??= new Map<string, LabelText>());
    let joined = others.get(own);
    if (joined === undefined) {
      if (others.size >= this.#most) this.#forgetUnused(others);
      const text = joinLabels(this.#first.text, own);
      joined = { text, shared: new SharedText(this.#kernel.texts, labelsPart(text)) };
      others.set(own, joined);
    }
    return joined;
  }

  /** The same as text, for people: nothing is kept for a line. */
  textWith(own: string): string {
    return joinLabels(this.#first.text, own);
  }

  /** Removes labels without a line: patterns take labels from the names of variables, which come and go. */
  #forgetUnused(others: Map<string, LabelText>): void {
    for (const [own, { shared }] of others) {
      if (shared.isUsed) continue;
      shared.close();
      others.delete(own);
    }
    this.#most = Math.max(MANY, 2 * others.size);
  }

  close(): void {
    this.#first.shared.close();
    for (const { shared } of this.#others?.values() ?? []) shared.close();
  }
}

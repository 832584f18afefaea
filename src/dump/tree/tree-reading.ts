// The values of one tree, read as they are needed.
import { ItemValues } from '../../exposition/look/item-values.js';
import { SlotCopies } from '../../exposition/look/slot-copies.js';
import { TreeValues } from '../../exposition/look/tree-values.js';
import type { ManagedObject, Source } from '../../model.js';

export class TreeReading {
  /** For people. */
  readonly texts: TreeValues;
  /** As they are. */
  readonly values: ItemValues;
  readonly #slots: SlotCopies;

  constructor(readonly source: Source) {
    this.#slots = new SlotCopies(source);
    this.texts = new TreeValues(source, this.#slots);
    this.values = new ItemValues(source, this.#slots);
  }

  /** When the values of a root were, in Unix milliseconds, if it states that. */
  asOfMs({ asOf }: ManagedObject): number | undefined {
    const bits = asOf && this.#slots.bits(asOf);
    return bits === undefined ? undefined : Number(bits / 1_000_000n);
  }

  /** Values are copied anew from here on: the reader of what was printed may have taken long. */
  renew(): void {
    this.#slots.clear();
  }
}

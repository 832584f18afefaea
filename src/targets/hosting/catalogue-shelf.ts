// The catalogues that a thread parsed, so that targets of one application share one.
import { catalogueOf } from '../../catalogue/builtin.js';
import type { Catalogue, CatalogueText } from '../../catalogue/catalogue.js';

/** Texts that are kept parsed; reloads of changed files push the oldest out. */
const MAX_KEPT = 64;

export class CatalogueShelf {
  readonly #parsed = new Map<string, Catalogue>();

  /** @throws Fault CONFIG_INVALID for a text that was not checked before */
  get(source: CatalogueText): Catalogue {
    const { text } = source;
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    const catalogue = catalogueOf(source);
    this.#parsed.set(text, catalogue);
    const [oldest] = this.#parsed.keys();
    if (this.#parsed.size > MAX_KEPT && oldest !== undefined) this.#parsed.delete(oldest);
    return catalogue;
  }
}

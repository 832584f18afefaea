// The pages of one format as deflate streams, joined from the parts that lines made of themselves.
import type { DeflateCode } from '../deflate/deflate-code.js';
import { codeOf, deflatedText, joined } from '../deflate/deflate-stream.js';
import { madeOnce } from '../made-once.js';
import type {
  Deflated,
  DeflatedPart,
  FamilyFacts,
  FamilyText,
  ReadyExposition,
} from '../../model.js';
import type { PageBody } from './page-bodies.js';
import { PageKinds } from './page-kinds.js';
import { familiesOf } from './selection.js';
import { StreamCache } from './stream-cache.js';

export class PageStreams {
  readonly #header: (facts: FamilyFacts) => string;
  /** Headers for a code, which seldom changes. */
  readonly #headers = new WeakMap<DeflateCode, WeakMap<FamilyFacts, DeflatedPart>>();
  readonly #kinds = new PageKinds(() => new StreamCache());

  /** @param header the header lines of a family */
  constructor(header: (facts: FamilyFacts) => string) {
    this.#header = header;
  }

  /** The families of a page, the same stream for the same ones; undefined if zlib is to make it. */
  ofFamilies(exposition: ReadyExposition, { facts }: PageBody): Deflated | undefined {
    const { code: lengths, origin } = exposition.snapshot;
    if (lengths === undefined) return undefined;
    const families = familiesOf(exposition);
    return this.#kinds.of(origin, facts).get(families, (memoryFor) => {
      const code = codeOf(lengths);
      return joined(this.#parts(families, facts, code), code, memoryFor);
    });
  }

  /**
   * Each family below its header.
   * @param stated what the headers state, in the same order
   */
  #parts(
    families: readonly FamilyText[],
    stated: readonly FamilyFacts[],
    code: DeflateCode,
  ): readonly DeflatedPart[] {
    const headers = madeOnce(this.#headers, code, () => new WeakMap());
    const parts: DeflatedPart[] = [];
    families.forEach(({ facts, deflated = [] }, index) => {
      const shown = stated[index] ?? facts;
      const header = () => deflatedText(Buffer.from(this.#header(shown)), code);
      parts.push(madeOnce(headers, shown, header));
      for (const part of deflated) parts.push(part);
    });
    return parts;
  }
}

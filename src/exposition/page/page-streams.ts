// The pages of one format as deflate streams: of parts that lines made of themselves, or of their text.
import { bytesOf } from '../../bytes.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import { codeOf, deflatedText, joined } from '../deflate/deflate-stream.js';
import { TextDeflater } from '../kernel/text-deflater.js';
import { madeOnce } from '../made-once.js';
import type {
  Deflated,
  DeflatedPart,
  FamilyFacts,
  FamilyText,
  ReadyExposition,
} from '../../model.js';
import type { PageBody } from './page-bodies.js';
import { PageFits } from './page-fits.js';
import { familiesOf } from './selection.js';
import { StreamCache } from './stream-cache.js';

export class PageStreams {
  readonly #header: (facts: FamilyFacts) => string;
  /** Headers for a code, which seldom changes. */
  readonly #headers = new WeakMap<DeflateCode, WeakMap<FamilyFacts, DeflatedPart>>();
  readonly #streams = new StreamCache();
  readonly #deflater = new TextDeflater();
  readonly #fits = new PageFits();

  /** @param header the header lines of a family */
  constructor(header: (facts: FamilyFacts) => string) {
    this.#header = header;
  }

  /** The families of a page, the same stream for the same ones; undefined if zlib is to make it. */
  ofFamilies(exposition: ReadyExposition, body: PageBody): Deflated | undefined {
    const { code: lengths } = exposition.snapshot;
    const { facts, bytes } = body;
    if (lengths !== undefined) {
      const families = familiesOf(exposition);
      return this.#streams.get(families, facts[0], (memoryFor) => {
        const code = codeOf(lengths);
        return joined(this.#parts(families, facts, code), code, memoryFor);
      });
    }
    if (!this.#deflater.takes(bytes, facts.length)) return undefined;
    const { pieces } = body;
    return this.#streams.get(pieces, facts[0], (memoryFor) =>
      this.#deflater.deflate(pieces, this.#fits.of(facts), memoryFor),
    );
  }

  /** What is behind the families; undefined if zlib is to make it. */
  ofEnding({ internal }: ReadyExposition, ending: readonly Uint8Array[]): Deflated | undefined {
    if (!this.#deflater.takes(bytesOf(ending), internal.length)) return undefined;
    const fit = this.#fits.of(internal.map(({ facts }) => facts));
    return this.#deflater.deflate(ending, fit, (words) => new Uint32Array(words));
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

// The pages of one format as deflate streams: of parts that lines made of themselves, or of their text.
import { bytesOf } from '../../bytes.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import { codeOf, deflatedText, joined } from '../deflate/deflate-stream.js';
import { CodeFit } from '../kernel/code-fit.js';
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
import { PageKinds } from './page-kinds.js';
import { familiesOf } from './selection.js';
import { StreamCache } from './stream-cache.js';

/** Of pages that are alike. */
interface KeptStreams {
  readonly streams: StreamCache;
  /** Where they are compressed as a whole: their code, in which only values and lines differ. */
  readonly fit: CodeFit;
}

export class PageStreams {
  readonly #header: (facts: FamilyFacts) => string;
  /** Headers for a code, which seldom changes. */
  readonly #headers = new WeakMap<DeflateCode, WeakMap<FamilyFacts, DeflatedPart>>();
  readonly #deflater = new TextDeflater();
  readonly #kinds = new PageKinds<KeptStreams>(() => ({
    streams: new StreamCache(),
    fit: new CodeFit(),
  }));
  /** Codes of what is behind the families: about as good for one target as for another. */
  readonly #endings = new PageKinds(() => new CodeFit());

  /** @param header the header lines of a family */
  constructor(header: (facts: FamilyFacts) => string) {
    this.#header = header;
  }

  /** The families of a page, the same stream for the same ones; undefined if zlib is to make it. */
  ofFamilies(exposition: ReadyExposition, body: PageBody): Deflated | undefined {
    const { code: lengths, origin } = exposition.snapshot;
    const { facts, bytes } = body;
    const { streams, fit } = this.#kinds.of(origin, facts);
    if (lengths !== undefined) {
      const families = familiesOf(exposition);
      return streams.get(families, (memoryFor) => {
        const code = codeOf(lengths);
        return joined(this.#parts(families, facts, code), code, memoryFor);
      });
    }
    if (!this.#deflater.takes(bytes, facts.length)) return undefined;
    const { pieces } = body;
    return streams.get(pieces, (memoryFor) => this.#deflater.deflate(pieces, fit, memoryFor));
  }

  /** What is behind the families; undefined if zlib is to make it. */
  ofEnding({ internal }: ReadyExposition, ending: readonly Uint8Array[]): Deflated | undefined {
    if (!this.#deflater.takes(bytesOf(ending), internal.length)) return undefined;
    const facts = internal.map((family) => family.facts);
    const fit = this.#endings.of(this, facts);
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

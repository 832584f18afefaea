// Some families of a page, each below its header: put together once, while none of them changes.
import type { FamilyFacts, FamilyText } from '../../model.js';
import { Packer } from './packer.js';
import { hasSameItems } from '../same-items.js';

/** The headers of some families, in their order, and how many bytes they are. */
interface HeaderTexts {
  readonly texts: readonly string[];
  readonly bytes: number;
}

const headersOf = (texts: readonly string[]): HeaderTexts => ({
  texts,
  bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
});

export class PageSection {
  readonly #families: readonly FamilyText[];
  /** As the format can express them. */
  readonly facts: readonly FamilyFacts[];
  readonly #headers: HeaderTexts;
  /** With the headers. */
  readonly bytes: number;
  #pieces: readonly Uint8Array[] | undefined;

  /** @param headers those of the families, in their order */
  private constructor(
    families: readonly FamilyText[],
    facts: readonly FamilyFacts[],
    headers: HeaderTexts,
  ) {
    this.#families = families;
    this.facts = facts;
    this.#headers = headers;
    let { bytes } = headers;
    for (const family of families) bytes += family.bytes;
    this.bytes = bytes;
  }

  /** @param former the section that was in its place: what is still right is used again */
  static of(
    families: readonly FamilyText[],
    facts: readonly FamilyFacts[],
    header: (facts: FamilyFacts) => string,
    former: PageSection | undefined,
  ): PageSection {
    if (former === undefined || !hasSameItems(former.facts, facts))
      return new PageSection(families, facts, headersOf(facts.map(header)));
    return hasSameItems(former.#families, families)
      ? former
      : new PageSection(families, facts, former.#headers);
  }

  /** Made where they are wanted: a compressed page needs no text. */
  get pieces(): readonly Uint8Array[] {
    return (this.#pieces ??= this.#packed());
  }

  /** What lies side by side in one memory is one piece, headers included where the format has the same. */
  #packed(): readonly Uint8Array[] {
    const packer = new Packer();
    let memory: ArrayBufferLike | undefined;
    let start = 0;
    let end = 0;
    let index = 0;
    const flush = (): void => {
      if (memory !== undefined) packer.piece(Buffer.from(memory, start, end - start));
      memory = undefined;
    };
    for (const family of this.#families) {
      const text = this.#headers.texts[index++] ?? '';
      const { headed } = family;
      if (headed?.header.text !== text) {
        flush();
        packer.text(text);
        for (const piece of family.pieces) packer.piece(piece);
        continue;
      }
      const { spans } = headed;
      for (let i = 0; i < spans.length; i += 2) {
        const from = spans[i] ?? 0;
        if (memory !== headed.memory || from !== end) {
          flush();
          memory = headed.memory;
          start = from;
        }
        end = spans[i + 1] ?? 0;
      }
    }
    flush();
    return packer.end();
  }
}

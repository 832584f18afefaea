// The families of pages as one format writes them; sections without a change are used again.
import type { FamilyFacts, FamilyText } from '../../model.js';
import { PageKinds } from './page-kinds.js';
import { PageSection } from './page-section.js';
import { hasSameItems } from '../same-items.js';

/** What a text format adds to the sample lines of a family. */
export interface FamilySyntax {
  /** The header lines. */
  readonly header: (facts: FamilyFacts) => string;
  /**
   * Adapts families to what the format can express: those that a page begins with, and those behind
   * them, each on their own.
   */
  readonly agree?: (families: readonly FamilyFacts[], isFirst: boolean) => readonly FamilyFacts[];
}

/**
 * Families of a section: with more, a change copies more bytes, where they do not lie side by side; with fewer,
 * there are more pieces to write. A number of families, not of bytes, which would divide a page anew for each
 * longer number.
 */
const FAMILIES = 64;

/** The families of a page, each below its header. */
export interface PageBody {
  /** As the format can express them, in the order of the families. */
  readonly facts: readonly FamilyFacts[];
  readonly bytes: number;
  /** Always the same list. */
  readonly pieces: readonly Uint8Array[];
}

class SectionedBody implements PageBody {
  readonly facts: readonly FamilyFacts[];
  readonly #sections: readonly PageSection[];
  #pieces: readonly Uint8Array[] | undefined;

  constructor(facts: readonly FamilyFacts[], sections: readonly PageSection[]) {
    this.facts = facts;
    this.#sections = sections;
  }

  get bytes(): number {
    return this.#sections.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  get pieces(): readonly Uint8Array[] {
    return (this.#pieces ??= this.#sections.flatMap(({ pieces }) => pieces));
  }
}

/** The last of pages that are alike. */
interface Last {
  /** The facts of its families, and what the format made of them. */
  given: readonly FamilyFacts[];
  agreed: readonly FamilyFacts[];
  sections: readonly PageSection[];
}

export class PageBodies {
  readonly #syntax: FamilySyntax;
  readonly #known = new WeakMap<readonly FamilyText[], PageBody>();
  readonly #kinds = new PageKinds<Last>(() => ({ given: [], agreed: [], sections: [] }));

  constructor(syntax: FamilySyntax) {
    this.#syntax = syntax;
  }

  /**
   * The same body for the same list.
   * @param origin that of the snapshot
   */
  of(families: readonly FamilyText[], origin: object): PageBody {
    const known = this.#known.get(families);
    if (known !== undefined) return known;
    const given: FamilyFacts[] = [];
    for (const { facts } of families) given.push(facts);
    const last = this.#kinds.of(origin, given);
    const facts = this.#agreed(given, last);
    const { header } = this.#syntax;
    const sections: PageSection[] = [];
    for (let start = 0; start < families.length; start += FAMILIES) {
      const end = start + FAMILIES;
      const former = last.sections[sections.length];
      sections.push(
        PageSection.of(families.slice(start, end), facts.slice(start, end), header, former),
      );
    }
    last.sections = sections;
    const body = new SectionedBody(facts, sections);
    this.#known.set(families, body);
    return body;
  }

  #agreed(given: readonly FamilyFacts[], last: Last): readonly FamilyFacts[] {
    const { agree } = this.#syntax;
    if (agree === undefined) return given;
    if (hasSameItems(last.given, given)) return last.agreed;
    last.given = given;
    last.agreed = agree(given, true);
    return last.agreed;
  }
}

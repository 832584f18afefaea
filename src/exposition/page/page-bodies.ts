// The families of pages as one format writes them; sections without a change are used again.
import type { FamilyFacts, FamilyText } from '../../model.js';
import { PageSection } from './page-section.js';
import { hasSameItems } from '../same-items.js';

/** What a text format adds to the sample lines of a family. */
export interface FamilySyntax {
  /** The header lines. */
  readonly header: (facts: FamilyFacts) => string;
  /** Adapts the families of a page to what the format can express. */
  readonly agree?: (families: readonly FamilyFacts[]) => readonly FamilyFacts[];
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

/** The facts of the families of a page, and what the format made of them. */
interface Agreed {
  readonly families: readonly FamilyFacts[];
  readonly facts: readonly FamilyFacts[];
}

export class PageBodies {
  readonly #syntax: FamilySyntax;
  readonly #known = new WeakMap<readonly FamilyText[], PageBody>();
  /** Both by the first family, whose facts stay while its text changes. */
  readonly #sections = new WeakMap<FamilyFacts, PageSection>();
  readonly #agreed = new WeakMap<FamilyFacts, Agreed>();

  constructor(syntax: FamilySyntax) {
    this.#syntax = syntax;
  }

  /** The same body for the same list. */
  of(families: readonly FamilyText[]): PageBody {
    const known = this.#known.get(families);
    if (known !== undefined) return known;
    const given: FamilyFacts[] = [];
    for (const { facts } of families) given.push(facts);
    const facts = this.#agreedFacts(given);
    const sections: PageSection[] = [];
    for (let start = 0; start < families.length; start += FAMILIES)
      sections.push(
        this.#section(
          families.slice(start, start + FAMILIES),
          facts.slice(start, start + FAMILIES),
        ),
      );
    const body = new SectionedBody(facts, sections);
    this.#known.set(families, body);
    return body;
  }

  #section(families: readonly FamilyText[], facts: readonly FamilyFacts[]): PageSection {
    const first = families[0]?.facts;
    const former = first && this.#sections.get(first);
    const section = PageSection.of(families, facts, this.#syntax.header, former);
    if (first !== undefined) this.#sections.set(first, section);
    return section;
  }

  #agreedFacts(families: readonly FamilyFacts[]): readonly FamilyFacts[] {
    const { agree } = this.#syntax;
    const [first] = families;
    if (agree === undefined || first === undefined) return families;
    const last = this.#agreed.get(first);
    if (last !== undefined && hasSameItems(last.families, families)) return last.facts;
    const facts = agree(families);
    this.#agreed.set(first, { families, facts });
    return facts;
  }
}

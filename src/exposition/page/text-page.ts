// Pages of the text formats, which share the rendered sample lines.
import type { DeflateCode } from '../deflate/deflate-code.js';
import type {
  Deflated,
  DeflatedPart,
  FamilyFacts,
  FamilyText,
  Format,
  Page,
  ReadyExposition,
} from '../../model.js';
import { codeOf, deflatedText, joined } from '../deflate/deflate-stream.js';
import { TextDeflater } from '../kernel/text-deflater.js';
import { madeOnce } from '../made-once.js';
import { PageFits } from './page-fits.js';
import { PageBodies } from './page-bodies.js';
import type { FamilySyntax, PageBody } from './page-bodies.js';
import { StreamCache } from './stream-cache.js';

/** What a text format adds to the sample lines. */
export interface Syntax extends FamilySyntax {
  readonly contentType: string;
  /** The last line of a page, if any. */
  readonly end: string;
}

export function textFormat({ contentType, end, ...syntax }: Syntax): Format {
  const { header, agree = (all: readonly FamilyFacts[]) => all } = syntax;
  const bodies = new PageBodies(syntax);
  const streams = new StreamCache();
  const textDeflater = new TextDeflater();
  const fits = new PageFits();
  /** The families as a deflate stream, made at the first demand for it; undefined if zlib is to make it. */
  const deflated = ({ families, snapshot }: ReadyExposition): Deflated | undefined => {
    const { code: lengths } = snapshot;
    const body = bodies.of(families);
    if (lengths === undefined)
      return textDeflater.takes(body.bytes, families.length)
        ? streams.get(families, (memoryFor) =>
            textDeflater.deflate(body.pieces, fits.of(body.facts), memoryFor),
          )
        : undefined;
    return streams.get(families, (memoryFor) => {
      const code = codeOf(lengths);
      const ofCode = madeOnce(deflatedHeaders, code, () => new WeakMap());
      const parts: DeflatedPart[] = [];
      families.forEach(({ facts, deflated = [] }, index) => {
        const shown = body.facts[index] ?? facts;
        parts.push(madeOnce(ofCode, shown, () => deflatedText(Buffer.from(header(shown)), code)));
        for (const part of deflated) parts.push(part);
      });
      return joined(parts, code, memoryFor);
    });
  };
  /** Headers for a code, which seldom changes. */
  const deflatedHeaders = new WeakMap<DeflateCode, WeakMap<FamilyFacts, DeflatedPart>>();
  /** Headers of the internal metrics. */
  const headers = new WeakMap<FamilyFacts, string>();
  /** The internal metrics, some of which are new each time, and the last line. */
  const endingOf = ({ internal }: ReadyExposition): readonly Uint8Array[] => {
    const facts = agree(internal.map((family) => family.facts));
    let text = '';
    internal.forEach((family, index) => {
      const shown = facts[index] ?? family.facts;
      text += madeOnce(headers, shown, header) + (family.text ?? linesOf(family));
    });
    text += end;
    return text === '' ? [] : [Buffer.from(text)];
  };
  const deflatedEnding = (
    { internal }: ReadyExposition,
    ending: readonly Uint8Array[],
  ): Deflated | undefined => {
    const bytes = ending.reduce((sum, { length }) => sum + length, 0);
    if (!textDeflater.takes(bytes, internal.length)) return undefined;
    const fit = fits.of(internal.map(({ facts }) => facts));
    return textDeflater.deflate(ending, fit, (words) => new Uint32Array(words));
  };
  return {
    contentType,
    page: (exposition) => {
      const ending = endingOf(exposition);
      return new TextPage(contentType, bodies.of(exposition.families), ending, {
        deflated: () => deflated(exposition),
        deflatedEnding: () => deflatedEnding(exposition, ending),
        release: exposition.snapshot.hold(),
      });
    },
  };
}

/** How both parts of a page are made as a stream. */
interface Making {
  readonly deflated: () => Deflated | undefined;
  readonly deflatedEnding: () => Deflated | undefined;
}

/** What it is made of is made where it is wanted: a compressed page needs no text. */
class TextPage implements Page {
  readonly contentType: string;
  readonly ending: readonly Uint8Array[];
  readonly bytes: number;
  readonly release: () => void;
  readonly #body: PageBody;
  readonly #making: Making;

  constructor(
    contentType: string,
    body: PageBody,
    ending: readonly Uint8Array[],
    making: Making & Pick<Page, 'release'>,
  ) {
    this.contentType = contentType;
    this.ending = ending;
    this.bytes = ending.reduce((sum, piece) => sum + piece.length, body.bytes);
    this.release = making.release;
    this.#body = body;
    this.#making = making;
  }

  get lasting(): readonly Uint8Array[] {
    return this.#body.pieces;
  }
  get pieces(): readonly Uint8Array[] {
    return this.#body.pieces.concat(this.ending);
  }
  get deflated(): Deflated | undefined {
    return this.#making.deflated();
  }
  get deflatedEnding(): Deflated | undefined {
    return this.#making.deflatedEnding();
  }
}

const linesOf = ({ pieces }: FamilyText): string =>
  pieces.map((piece) => Buffer.from(piece).toString()).join('');

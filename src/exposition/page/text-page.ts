// Pages of the text formats, which share the rendered sample lines.
import type {
  Deflated,
  FamilyFacts,
  FamilyText,
  Format,
  Page,
  ReadyExposition,
} from '../../model.js';
import { bytesOf } from '../../bytes.js';
import { madeOnce } from '../made-once.js';
import { headerText } from '../text/header-text.js';
import { PageBodies } from './page-bodies.js';
import type { FamilySyntax, PageBody } from './page-bodies.js';
import { PageStreams } from './page-streams.js';
import { familiesOf } from './selection.js';

/** What a text format adds to the sample lines. */
export interface Syntax extends FamilySyntax {
  readonly contentType: string;
  /** The last line of a page, if any. */
  readonly end: string;
  readonly takes?: Format['takes'];
}

export function textFormat({ contentType, end, takes, ...syntax }: Syntax): Format {
  const { header, agree = (all: readonly FamilyFacts[]) => all } = syntax;
  const bodies = new PageBodies(syntax);
  const streams = new PageStreams(header);
  /** Headers of the internal metrics. */
  const headers = new WeakMap<FamilyFacts, string>();
  /** The internal metrics, some of which are new each time, and the last line. */
  const endingOf = ({ internal }: ReadyExposition): readonly Uint8Array[] => {
    const given: FamilyFacts[] = [];
    for (const { facts } of internal) given.push(facts);
    const agreed = agree(given, false);
    let text = '';
    let index = 0;
    for (const family of internal) {
      const facts = agreed[index++] ?? family.facts;
      // One call less for each of them, where it is known.
      text += headers.get(facts) ?? madeOnce(headers, facts, header);
      text += family.text ?? linesOf(family);
    }
    text += end;
    return text === '' ? [] : [Buffer.from(text)];
  };
  return {
    contentType,
    ...(takes !== undefined && { takes }),
    page: (exposition) => {
      const { snapshot, selected } = exposition;
      // Those are the headers in the page of a snapshot.
      const text = header === headerText && selected === undefined ? snapshot.page : undefined;
      const body =
        text === undefined
          ? bodies.of(familiesOf(exposition), snapshot.origin)
          : new SnapshotBody(snapshot.facts, text);
      return new TextPage(contentType, exposition, body, endingOf(exposition), streams);
    },
  };
}

/** The text of a snapshot as it lies. */
class SnapshotBody implements PageBody {
  readonly facts: readonly FamilyFacts[];
  readonly pieces: readonly Uint8Array[];

  constructor(facts: readonly FamilyFacts[], pieces: readonly Uint8Array[]) {
    this.facts = facts;
    this.pieces = pieces;
  }

  get bytes(): number {
    return bytesOf(this.pieces);
  }
}

/** What it is made of is made where it is wanted: a compressed page needs no text. */
class TextPage implements Page {
  readonly contentType: string;
  readonly ending: readonly Uint8Array[];
  readonly bytes: number;
  readonly release: () => void;
  readonly #exposition: ReadyExposition;
  readonly #body: PageBody;
  readonly #streams: PageStreams;

  constructor(
    contentType: string,
    exposition: ReadyExposition,
    body: PageBody,
    ending: readonly Uint8Array[],
    streams: PageStreams,
  ) {
    this.contentType = contentType;
    this.ending = ending;
    this.bytes = body.bytes + bytesOf(ending);
    this.release = exposition.snapshot.hold();
    this.#exposition = exposition;
    this.#body = body;
    this.#streams = streams;
  }

  get lasting(): readonly Uint8Array[] {
    return this.#body.pieces;
  }
  get pieces(): readonly Uint8Array[] {
    return this.#body.pieces.concat(this.ending);
  }
  get deflated(): Deflated | undefined {
    return this.#streams.ofFamilies(this.#exposition, this.#body);
  }
}

const linesOf = ({ pieces }: FamilyText): string =>
  pieces.map((piece) => Buffer.from(piece).toString()).join('');

// Pages of the text formats, which share the rendered sample lines.
import type { FamilyFacts, FamilyText, Format } from '../../model.js';

/** What a text format adds to the sample lines. */
export interface Syntax {
  readonly contentType: string;
  /** The header lines of a family. */
  readonly header: (facts: FamilyFacts) => string;
  /** Adapts the families of a page to what the format can express. */
  readonly agree?: (families: readonly FamilyFacts[]) => readonly FamilyFacts[];
  /** The last line of a page, if any. */
  readonly end: string;
}

/** Smaller pieces are merged: small writes cost more than copying them. */
const SMALL = 16_384;

export function textFormat({ contentType, header, agree = (all) => all, end }: Syntax): Format {
  const headers = new WeakMap<FamilyFacts, Buffer>();
  const headerOf = (facts: FamilyFacts): Buffer => {
    let text = headers.get(facts);
    if (text === undefined) {
      text = Buffer.from(header(facts));
      headers.set(facts, text);
    }
    return text;
  };
  const piecesOf = (families: readonly FamilyText[]): Uint8Array[] => {
    const adapted = agree(families.map(({ facts }) => facts));
    return families.flatMap(({ facts, pieces }, at) => [headerOf(adapted[at] ?? facts), ...pieces]);
  };
  /** The packed text of a selection: built once, sent with current internal metrics. */
  const packed = new WeakMap<readonly FamilyText[], readonly Uint8Array[]>();
  const endPiece = Buffer.from(end);
  return {
    contentType,
    page: ({ snapshot, families, internal }) => {
      let pieces = packed.get(families);
      if (pieces === undefined) {
        pieces = pack(piecesOf(families));
        packed.set(families, pieces);
      }
      const all = [...pieces, ...pack([...piecesOf(internal), endPiece])];
      return {
        contentType,
        pieces: all,
        bytes: all.reduce((sum, piece) => sum + piece.length, 0),
        lasting: pieces,
        release: snapshot.hold(),
      };
    },
  };
}

/** Merges runs of small pieces; large ones are not copied. */
function pack(pieces: readonly Uint8Array[]): Uint8Array[] {
  const result: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  const close = () => {
    if (run.length > 0) result.push(Buffer.concat(run));
    run = [];
  };
  for (const piece of pieces) {
    if (piece.length >= SMALL) close();
    if (piece.length >= SMALL) result.push(piece);
    else if (piece.length > 0) run.push(piece);
  }
  close();
  return result;
}

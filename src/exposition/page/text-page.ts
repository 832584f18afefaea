// Pages of the text formats, which share the rendered sample lines.
import type { DeflateCode } from '../deflate/deflate-code.js';
import type {
  Deflated,
  DeflatedPart,
  FamilyFacts,
  FamilyText,
  Format,
  ReadyExposition,
} from '../../model.js';
import { codeOf, deflatedText, joined } from '../deflate/deflate-stream.js';
import { StreamCache } from './stream-cache.js';

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
  /** Each family with its facts as the format can express them. */
  const agreed = (families: readonly FamilyText[]) => {
    const adapted = agree(families.map(({ facts }) => facts));
    return families.map((family, at) => ({ family, facts: adapted[at] ?? family.facts }));
  };
  const piecesOf = (families: readonly FamilyText[]): Uint8Array[] =>
    agreed(families).flatMap(({ family, facts }) => [headerOf(facts), ...family.pieces]);
  /** The packed text of a selection: built once, sent with current internal metrics. */
  const packed = new WeakMap<readonly FamilyText[], readonly Uint8Array[]>();
  const streams = new StreamCache();
  /** The same as a deflate stream: joined at the first demand for it. */
  const deflated = ({ families, snapshot }: ReadyExposition): Deflated | undefined => {
    const { code: lengths } = snapshot;
    if (lengths === undefined) return undefined;
    return streams.get(families, (memoryFor) => {
      const code = codeOf(lengths);
      const parts = agreed(families).flatMap(({ family: { deflated = [] }, facts }) => [
        deflatedHeader(facts, code),
        ...deflated,
      ]);
      return joined(parts, code, memoryFor);
    });
  };
  /** Headers for a code, which seldom changes. */
  const deflatedHeaders = new WeakMap<DeflateCode, WeakMap<FamilyFacts, DeflatedPart>>();
  const deflatedHeader = (facts: FamilyFacts, code: DeflateCode): DeflatedPart => {
    const ofCode = deflatedHeaders.get(code) ?? new WeakMap<FamilyFacts, DeflatedPart>();
    deflatedHeaders.set(code, ofCode);
    const part = ofCode.get(facts) ?? deflatedText(headerOf(facts), code);
    ofCode.set(facts, part);
    return part;
  };
  const endPiece = Buffer.from(end);
  const lengths = new WeakMap<readonly FamilyText[], number>();
  const lengthOf = (families: readonly FamilyText[]): number => {
    let bytes = lengths.get(families);
    if (bytes === undefined) {
      bytes = agreed(families).reduce(
        (sum, { family, facts }) => sum + headerOf(facts).length + family.bytes,
        0,
      );
      lengths.set(families, bytes);
    }
    return bytes;
  };
  const packedOf = (families: readonly FamilyText[]): readonly Uint8Array[] => {
    const pieces = packed.get(families) ?? pack(piecesOf(families));
    packed.set(families, pieces);
    return pieces;
  };
  return {
    contentType,
    page: (exposition) => {
      const { snapshot, families, internal } = exposition;
      const ending = pack([...piecesOf(internal), endPiece]);
      return {
        contentType,
        ending,
        bytes: ending.reduce((sum, piece) => sum + piece.length, lengthOf(families)),
        // Made where they are wanted: a compressed page needs no text.
        get lasting() {
          return packedOf(families);
        },
        get pieces() {
          return [...packedOf(families), ...ending];
        },
        get deflated() {
          return deflated(exposition);
        },
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

// Snapshots that a test defines, and the texts of snapshots.
import { textLines } from '#app/exposition/page/text-page.js';
import { textOf } from '#app/exposition/text/text-syntax.js';
import type { FamilyMetadata, Piece, Snapshot } from '#app/model.js';

/** The lines of a family, as pieces of text. */
export const piecesOf = (
  family: FamilyMetadata,
  texts: readonly (string | Uint8Array)[],
): readonly Piece[] =>
  texts.map((text) => {
    const data = Buffer.from(text as Uint8Array);
    const lines = data.toString().split('\n').length - 1;
    return { family, lines, data, bytes: data.length, crc: undefined };
  });

/** A snapshot with these pieces of text. */
export const snapshotOf = (
  pieces: readonly Piece[],
  more: Partial<Omit<Snapshot, 'metadata'>> = {},
): Snapshot => ({
  metadata: [...new Set(pieces.map(({ family }) => family))],
  violatesOpenMetrics: false,
  lines: (form) => (form === 'text' ? pieces : undefined),
  hold: () => () => undefined,
  ...more,
});

/** Each family of a snapshot with its lines. */
export function familiesOf(
  snapshot: Snapshot,
): readonly { readonly metadata: FamilyMetadata; readonly text: string }[] {
  const texts = new Map<FamilyMetadata, string>();
  for (const piece of textLines(snapshot))
    texts.set(piece.family, (texts.get(piece.family) ?? '') + textOf(piece));
  return [...texts].map(([metadata, text]) => ({ metadata, text }));
}

/** The lines of a snapshot, with their line feeds and without headers. */
export const linesOf = (snapshot: Snapshot): string => textLines(snapshot).map(textOf).join('');

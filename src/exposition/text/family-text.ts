// The rendered samples of one family: its bytes, and the parsed series.
import type { DeflatedPart, FamilyFacts, FamilyText, HeadedText, Sample } from '../../model.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import { inflated } from '../deflate/deflate-stream.js';
import { decodeSeries } from './labels.js';

export const familyText = (facts: FamilyFacts, pieces: readonly Uint8Array[]): FamilyText => ({
  facts,
  pieces,
  bytes: bytesOf(pieces),
  samples: () => samplesIn(pieces),
});

/** A family whose lines lie below their header, and with parts of a deflate stream where these are there too. */
export function headedFamily(
  facts: FamilyFacts,
  headed: HeadedText,
  deflated?: readonly DeflatedPart[],
): FamilyText {
  let lines: readonly Uint8Array[] | undefined;
  const text = () => (lines ??= withoutHeader(headed));
  return {
    facts,
    headed,
    deflated,
    bytes: bytesOf(headed.pieces) - headed.header.bytes,
    get pieces() {
      return text();
    },
    samples: () => samplesIn(text()),
  };
}

/** A family with parts of a deflate stream alone, which are unpacked where the text is wanted. */
export function deflatedFamily(
  facts: FamilyFacts,
  deflated: readonly DeflatedPart[],
  code: DeflateCode,
): FamilyText {
  let unpacked: readonly Uint8Array[] | undefined;
  const text = () => (unpacked ??= [inflated(deflated, code)]);
  return {
    facts,
    deflated,
    bytes: deflated.reduce((sum, { bytes }) => sum + bytes, 0),
    get pieces() {
      return text();
    },
    samples: () => samplesIn(text()),
  };
}

function bytesOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of pieces) bytes += length;
  return bytes;
}

const withoutHeader = ({ header, pieces }: HeadedText): readonly Uint8Array[] =>
  pieces.map((piece, index) => (index === 0 ? piece.subarray(header.bytes) : piece));

/** A piece holds whole lines, and may be in the memory of another thread. */
function* samplesIn(pieces: readonly Uint8Array[]): Generator<Sample> {
  for (const { buffer, byteOffset, length } of pieces) {
    const text = Buffer.from(buffer, byteOffset, length).toString();
    for (let start = 0; start < text.length;) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      const blank = text.lastIndexOf(' ', end);
      const series = decodeSeries(text.slice(start, blank));
      yield { ...series, value: text.slice(blank + 1, end) };
      start = end + 1;
    }
  }
}

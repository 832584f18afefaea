// The rendered samples of one family: its bytes, and the parsed series.
import type { DeflatedPart, FamilyFacts, FamilyText, Sample } from '../../model.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import { inflated } from '../deflate/deflate-stream.js';
import { decodeSeries } from './labels.js';

export const familyText = (facts: FamilyFacts, pieces: readonly Uint8Array[]): FamilyText => ({
  facts,
  pieces,
  bytes: bytesOf(pieces),
  samples: () => samplesIn(pieces),
});

/** A family with parts of a deflate stream; without `pieces`, they are unpacked where they are wanted. */
export function deflatedFamily(
  facts: FamilyFacts,
  deflated: readonly DeflatedPart[],
  code: DeflateCode,
  pieces?: readonly Uint8Array[],
): FamilyText {
  let unpacked = pieces;
  const text = () => (unpacked ??= [inflated(deflated, code)]);
  return {
    facts,
    deflated,
    bytes: bytesOf(deflated),
    get pieces() {
      return text();
    },
    samples: () => samplesIn(text()),
  };
}

const bytesOf = (all: readonly (Uint8Array | DeflatedPart)[]): number =>
  all.reduce((sum, each) => sum + ('bits' in each ? each.bytes : each.length), 0);

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

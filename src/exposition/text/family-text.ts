// The rendered samples of one family: its bytes, and the parsed series.
import type { DeflatedPart, FamilyFacts, FamilyText, Sample } from '../../model.js';
import { decodeSeries } from './labels.js';

export const familyText = (
  facts: FamilyFacts,
  pieces: readonly Uint8Array[],
  deflated?: readonly DeflatedPart[],
): FamilyText => ({
  facts,
  pieces,
  samples: () => samplesIn(pieces),
  deflated,
});

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

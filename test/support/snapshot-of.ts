// A snapshot of families that a test makes.
import { bytesOf } from '#app/bytes.js';
import { samplesIn } from '#app/exposition/text/family-text.js';
import type { FamilyFacts, FamilyText, Snapshot } from '#app/model.js';

export const familyText = (facts: FamilyFacts, pieces: readonly Uint8Array[]): FamilyText => ({
  facts,
  pieces,
  bytes: bytesOf(pieces),
  samples: () => samplesIn(pieces),
});

export const snapshotOf = (
  families: readonly FamilyText[],
  more: Partial<Omit<Snapshot, 'facts' | 'families'>> = {},
): Snapshot => ({
  facts: families.map(({ facts }) => facts),
  families,
  bytes: families.reduce((sum, { bytes }) => sum + bytes, 0),
  series: families.length,
  forms: { text: true, deflated: false },
  hold: () => () => undefined,
  ...more,
});

// Creates a snapshot from families that a test defines.
import { bytesOf } from '#app/bytes.js';
import { samplesIn } from '#app/exposition/text/family-text.js';
import type { FamilyMetadata, FamilyText, Snapshot } from '#app/model.js';

export const familyText = (
  metadata: FamilyMetadata,
  buffers: readonly Uint8Array[],
): FamilyText => ({
  metadata,
  buffers,
  bytes: bytesOf(buffers),
  samples: () => samplesIn(buffers),
});

export const snapshotOf = (
  families: readonly FamilyText[],
  more: Partial<Omit<Snapshot, 'metadata' | 'families'>> = {},
): Snapshot => ({
  metadata: families.map(({ metadata }) => metadata),
  families,
  bytes: families.reduce((sum, { bytes }) => sum + bytes, 0),
  series: families.length,
  encodings: { text: true, deflated: false },
  hold: () => () => undefined,
  ...more,
});

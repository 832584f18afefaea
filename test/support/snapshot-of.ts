// A snapshot of families that a test makes.
import type { FamilyText, Snapshot } from '#app/model.js';

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

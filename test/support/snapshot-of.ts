// A snapshot of families that a test makes.
import type { FamilyText, Snapshot } from '#app/model.js';

/** All of them are of one target, unless a test says otherwise. */
const ORIGIN = {};

export const snapshotOf = (
  families: readonly FamilyText[],
  more: Partial<Omit<Snapshot, 'facts' | 'families'>> = {},
): Snapshot => ({
  origin: ORIGIN,
  facts: families.map(({ facts }) => facts),
  families,
  bytes: families.reduce((sum, { bytes }) => sum + bytes, 0),
  series: families.length,
  forms: { text: true, deflated: false },
  hold: () => () => undefined,
  ...more,
});

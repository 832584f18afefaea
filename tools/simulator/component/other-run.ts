// The same tree as if from another run of its process.
import type { VendorObject, VendorVariable } from './vendor-tree.js';
import { VENDOR_TYPES } from './vendor-types.js';

/** The variables that identify a run of a process. */
const OTHER: readonly VendorVariable[] = [
  { Name: 'processID', Type: VENDOR_TYPES.number, Value: 99_999n },
  { Name: 'time', Type: VENDOR_TYPES.text, Value: 'Tue Jan  6 09:30:00 2026' },
];
const OTHER_NAMES = OTHER.map(({ Name }) => Name);

export const otherRun = (root: VendorObject): VendorObject => ({
  ...root,
  Variables: [...root.Variables.filter(({ Name }) => !OTHER_NAMES.includes(Name)), ...OTHER],
});

// The kinds of rows that a catalogue file may hold.
import { distribution } from './distribution.js';
import { info } from './info.js';
import { observedHistogram, observedSummary } from './observed.js';
import { pair } from './pair.js';
import type { RowKind } from './row-kind.js';
import { scalar } from './scalar.js';
import { state, stateset } from './states.js';
import { timestamp } from './timestamp.js';

/** The kinds in order of precedence: the kind of a row is the first that fits its keys. The last kind fits all rows. */
export const ROW_KINDS: readonly RowKind[] = [
  info,
  pair,
  timestamp,
  state,
  stateset,
  observedHistogram,
  observedSummary,
  distribution,
  scalar,
];

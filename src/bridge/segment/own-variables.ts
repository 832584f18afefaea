// The variables in which the bridge reports about itself, one row each.
import type { VariableKind } from '../../model.js';

/** The application of the bridge's own root. */
export const APPLICATION = 'shm_bridge';

/** Classes of the root and of its children. */
export const CLASSES = { component: 'Component', failure: 'Failure', oddity: 'Oddity' } as const;

export interface OwnRow {
  readonly type: 'u64' | 'f64' | 'bool';
  readonly kind: VariableKind;
  readonly unit: string;
  readonly help: string;
}

const total = (help: string, unit = ''): OwnRow => ({ type: 'u64', kind: 'counter', unit, help });
const level = (help: string, unit = ''): OwnRow => ({ type: 'u64', kind: 'gauge', unit, help });
const amount = (help: string, kind: VariableKind = 'gauge'): OwnRow => ({
  type: 'f64',
  kind,
  unit: 'seconds',
  help,
});
const flag = (help: string): OwnRow => ({ type: 'bool', kind: 'gauge', unit: '', help });

/** The variables of the root, by name. */
export const OWN_VARIABLES = {
  up: flag('1 when the last poll of the component gave its tree.'),
  isPublished: flag('1 while objects of the component are published, fresh or stale.'),
  isStale: flag('1 while the published objects are older than stale_after intervals.'),
  polls: total('Polls of the component, good and failed ones.'),
  skippedPolls: total('Polls left out because the one before was still under way.'),
  lastSuccessTimestampSeconds: amount(
    'When the component last showed its tree, as a Unix timestamp; 0 for never.',
  ),
  lastPollDurationSeconds: amount('How long the last poll took, from the request to the tree.'),
  pollDurationSeconds: amount('How long all polls took together.', 'counter'),
  lastStoreDurationSeconds: amount('How long it took to store what the last tree changed.'),
  storeDurationSeconds: amount('How long it took to store what all trees changed.', 'counter'),
  receivedBytes: total('Bytes of bodies that came over the wire.', 'bytes'),
  lastBodyBytes: level('Size of the last whole body, decompressed.', 'bytes'),
  objects: level('Objects of the component in its last tree.'),
  variables: level('Variables of the component in its last tree.'),
  publishedObjects: level('Objects of the component that are published now.'),
  changedValues: total('Values that differed from the poll before and were stored.'),
  addedObjects: total('Objects that were added.'),
  removedObjects: total('Objects that were removed.'),
  dropped: level('Objects and variables of the last tree that found no room in the segment.'),
  restarts: total('Restarts of the component, seen by its processID or its start time.'),
} as const satisfies Readonly<Record<string, OwnRow>>;

export type OwnVariable = keyof typeof OWN_VARIABLES;

/** Texts of the root, by name. */
export const OWN_TEXTS = {
  name: 'What the configuration of the bridge calls the component.',
  url: 'Address that the component is polled at.',
} as const satisfies Readonly<Record<string, string>>;

/** In an object for each reason. */
export const FAILED_POLLS = {
  variable: 'polls',
  row: total('Polls that gave no tree, by reason.'),
};

/** In an object for each oddity. */
export const ODD_ITEMS = {
  variable: 'items',
  row: level('Irregular items of the last tree, by kind.'),
};

// What is known of a target that nothing was heard of yet.
import type { Durations } from '../../exposition/sample-window.js';
import { NOTHING_COUNTED } from '../target-facts.js';
import type { TargetFacts } from '../target-facts.js';
import type { TargetDefinition } from '../definition.js';

const NO_DURATIONS: Durations = { count: 0, sum: 0, mean: 0, p50: 0, p95: 0, p99: 0 };

export const nothingKnown = ({ serverKeys }: TargetDefinition): TargetFacts => ({
  serverKey: serverKeys[0] ?? '',
  root: '',
  isReady: false,
  progress: {
    objects: { synced: 0, total: 0 },
    variables: { synced: 0, total: 0 },
    reason: 'its worker partition, which is starting',
  },
  publisher: { state: 'absent', reason: 'its segment has not been looked for yet' },
  view: undefined,
  highlighted: undefined,
  counted: NOTHING_COUNTED,
  refreshes: NO_DURATIONS,
  queue: { busyIdleRatio: 0, waits: NO_DURATIONS },
});

// The verdict on a publisher, from what its segment and the system say of it. Format page, section 9.
import type { Verdict } from '../../model.js';
import { SEGMENT_STATE } from './layout.js';
import type { NameHolder } from '../os/shared-memory.js';

/** What the verdict depends on; times are CLOCK_MONOTONIC in ns. */
export interface Evidence {
  readonly state: number;
  /** What the name of the segment refers to. */
  readonly nameHolder: NameHolder;
  readonly isLocked: boolean;
  readonly heartbeatNs: bigint;
  readonly heartbeatPeriodNs: bigint;
  readonly nowNs: bigint;
}

const MISSED_PERIODS = 5n;
const LEAST_PATIENCE_NS = 3_000_000_000n;

export function judge(evidence: Evidence): Verdict {
  const { state, heartbeatPeriodNs } = evidence;
  if (state === SEGMENT_STATE.closed)
    return { state: 'closed', reason: 'publisher closed its segment' };
  if (state === SEGMENT_STATE.superseded || evidence.nameHolder === 'another')
    return { state: 'superseded', reason: 'segment was replaced by a newer one' };
  if (evidence.nameHolder === 'none')
    return { state: 'absent', reason: 'segment was removed from shared memory' };
  if (!evidence.isLocked) return { state: 'dead', reason: 'publisher died without closing' };
  if (state === SEGMENT_STATE.building)
    return { state: 'building', reason: 'publisher is still building its segment' };
  if (state !== SEGMENT_STATE.live)
    return { state: 'corrupt', reason: `segment is corrupt: its state is ${state}` };
  if (heartbeatPeriodNs === 0n) return { state: 'live', reason: 'publisher is live' };
  const elapsed = evidence.nowNs - evidence.heartbeatNs;
  const ageNs = elapsed > 0n ? elapsed : 0n;
  const heartbeatAgeSeconds = Number(ageNs) / 1e9;
  const stated = heartbeatPeriodNs * MISSED_PERIODS;
  const patience = stated > LEAST_PATIENCE_NS ? stated : LEAST_PATIENCE_NS;
  if (ageNs <= patience) return { state: 'live', reason: 'publisher is live', heartbeatAgeSeconds };
  const reason = `publisher has not beaten for ${heartbeatAgeSeconds.toFixed(1)} s`;
  return { state: 'stalled', reason, heartbeatAgeSeconds };
}

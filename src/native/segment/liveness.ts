// Judges whether a publisher is alive, from its segment and its process. docs/segment-format.md, section 9.
import { deviceText } from '../../foreign/verified-file.js';
import {
  hasMapped,
  hasReusedPid,
  hidingOption,
  innermostPidOf,
  startTicksOf,
  textOf,
} from '../../foreign/processes.js';
import type { PublisherProcess, Verdict } from '../../model.js';
import type { NameState, SegmentFile } from '../os/shared-memory.js';
import { SEGMENT_STATE } from './layout.js';
import type { SegmentHeader } from './segment-header.js';

/** What a reader knows about a segment. Times are CLOCK_MONOTONIC in ns. */
export interface SegmentFacts {
  readonly state: number;
  readonly nameState: NameState;
  readonly isLocked: boolean;
  /** Time of the last heartbeat by the reader's clock. */
  readonly heartbeatNs: bigint;
  readonly heartbeatPeriodNs: bigint;
  readonly nowNs: bigint;
}

interface Judgement {
  readonly publisher: Verdict;
  /** Whether the exporter serves the publisher's values. */
  readonly isServed: boolean;
}

const MISSED_PERIODS = 5n;
const MIN_TIMEOUT_NS = 3_000_000_000n;

/**
 * Converts heartbeat times to the reader's clock. A publisher in another time namespace uses a clock with an offset. So
 * if the time of a new heartbeat is not between the last poll and this one, the time of this poll replaces it. The time
 * of the first heartbeat stays if it is before the first poll.
 */
export class HeartbeatClock {
  #heartbeatNs: bigint | undefined;
  #atNs = 0n;
  #polledNs = 0n;

  /** @param nowNs CLOCK_MONOTONIC of the reader */
  at(heartbeatNs: bigint, nowNs: bigint): bigint {
    if (heartbeatNs !== this.#heartbeatNs) {
      const isOwnClock = heartbeatNs >= this.#polledNs && heartbeatNs <= nowNs;
      this.#atNs = isOwnClock ? heartbeatNs : nowNs;
      this.#heartbeatNs = heartbeatNs;
    }
    this.#polledNs = nowNs;
    return this.#atNs;
  }
}

/** @param stalledForNs how long the values of a stalled publisher are served; 0 for no limit */
export function judge(facts: SegmentFacts, stalledForNs = 0n): Judgement {
  const { state, nameState, isLocked, heartbeatPeriodNs, heartbeatNs, nowNs } = facts;
  const unserved = (verdict: Verdict['state'], reason: string): Judgement => ({
    publisher: { state: verdict, reason },
    isServed: false,
  });
  if (state === SEGMENT_STATE.closed) return unserved('closed', 'publisher closed its segment');
  if (state === SEGMENT_STATE.superseded || nameState === 'replaced')
    return unserved('superseded', 'segment was replaced by a newer one');
  if (nameState === 'removed') return unserved('absent', 'segment was removed from shared memory');
  if (!isLocked) return unserved('dead', 'publisher died without closing');
  if (state === SEGMENT_STATE.building)
    return unserved('building', 'publisher is still building its segment');
  if (state !== SEGMENT_STATE.live)
    return unserved('corrupt', `segment is corrupt: its state is ${state}`);
  const live = { state: 'live', reason: 'publisher is live' } as const;
  if (heartbeatPeriodNs === 0n) return { publisher: live, isServed: true };
  const ageNs = nowNs > heartbeatNs ? nowNs - heartbeatNs : 0n;
  const heartbeatAgeSeconds = Number(ageNs) / 1e9;
  const stated = heartbeatPeriodNs * MISSED_PERIODS;
  const timeout = stated > MIN_TIMEOUT_NS ? stated : MIN_TIMEOUT_NS;
  if (ageNs <= timeout) return { publisher: { ...live, heartbeatAgeSeconds }, isServed: true };
  const isServed = stalledForNs === 0n || ageNs <= timeout + stalledForNs;
  // If the publisher's values are not served, operators see this reason, so its text should not change with each
  // poll.
  const silence = isServed
    ? heartbeatAgeSeconds.toFixed(1)
    : `more than ${Number(timeout + stalledForNs) / 1e9}`;
  const reason = `no heartbeat from the publisher for ${silence} s`;
  const stalled = { state: 'stalled', reason, heartbeatAgeSeconds } as const;
  return { publisher: isServed ? stalled : { ...stalled, isOverdue: true }, isServed };
}

/** Returns the process that a segment names. While it runs, also states whether it is in another PID namespace. */
export function processOf(
  { pid, startedRealtimeNs }: Pick<SegmentHeader, 'pid' | 'startedRealtimeNs'>,
  { identity }: Pick<SegmentFile, 'identity'>,
  isRunning: boolean,
  proc = '/proc',
): PublisherProcess {
  const process = { pid: Number(pid), startedUnixMs: Number(startedRealtimeNs / 1_000_000n) };
  return isRunning && isElsewhere(process, identity, proc)
    ? { ...process, isElsewhere: true }
    : process;
}

function isElsewhere(
  { pid, startedUnixMs }: PublisherProcess,
  identity: string,
  proc: string,
): boolean {
  const startTicks = startTicksOf(pid, proc);
  if (startTicks === undefined) return hidingOption(proc) === undefined;
  const inside = innermostPidOf(textOf(`${proc}/${pid}/status`)) ?? String(pid);
  if (inside !== String(pid)) return true;
  const [, device, inode] = /^(\d+):(\d+)$/.exec(identity) ?? [];
  if (device === undefined || inode === undefined) return false;
  const file = { device: deviceText(BigInt(device)), inode: BigInt(inode) };
  const isMapped = hasMapped(`${proc}/${pid}`, file);
  if (isMapped !== 'perhaps') return isMapped === 'no';
  return hasReusedPid(startTicks, startedUnixMs, proc);
}

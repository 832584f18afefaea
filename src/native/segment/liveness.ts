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
import type { NameHolder, SegmentFile } from '../os/shared-memory.js';
import { SEGMENT_STATE } from './layout.js';
import type { SegmentHeader } from './segment-header.js';

/** The facts behind a verdict. Times are CLOCK_MONOTONIC in ns. */
export interface Evidence {
  readonly state: number;
  readonly nameHolder: NameHolder;
  readonly isLocked: boolean;
  /** Time of the last heartbeat by the reader's clock. */
  readonly heartbeatNs: bigint;
  readonly heartbeatPeriodNs: bigint;
  readonly nowNs: bigint;
}

interface Judgement {
  readonly publisher: Verdict;
  /** True if the exporter serves the publisher's values. */
  readonly isServed: boolean;
}

const IS_LIVE = 'publisher is live';

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
export function judge(evidence: Evidence, stalledForNs = 0n): Judgement {
  const publisher = verdictOnFile(evidence);
  return publisher === undefined
    ? judgeHeartbeat(evidence, stalledForNs)
    : { publisher, isServed: false };
}

/** The verdict if it does not depend on the heartbeat; undefined while a publisher holds a live segment. */
function verdictOnFile({ state, nameHolder, isLocked }: Evidence): Verdict | undefined {
  if (state === SEGMENT_STATE.closed)
    return { state: 'closed', reason: 'publisher closed its segment' };
  if (state === SEGMENT_STATE.superseded || nameHolder === 'another')
    return { state: 'superseded', reason: 'segment was replaced by a newer one' };
  if (nameHolder === 'none')
    return { state: 'absent', reason: 'segment was removed from shared memory' };
  if (!isLocked) return { state: 'dead', reason: 'publisher died without closing' };
  if (state === SEGMENT_STATE.building)
    return { state: 'building', reason: 'publisher is still building its segment' };
  if (state !== SEGMENT_STATE.live)
    return { state: 'corrupt', reason: `segment is corrupt: its state is ${state}` };
  return undefined;
}

function judgeHeartbeat(evidence: Evidence, stalledForNs: bigint): Judgement {
  const { heartbeatPeriodNs, heartbeatNs, nowNs } = evidence;
  if (heartbeatPeriodNs === 0n)
    return { publisher: { state: 'live', reason: IS_LIVE }, isServed: true };
  const ageNs = nowNs > heartbeatNs ? nowNs - heartbeatNs : 0n;
  const heartbeatAgeSeconds = Number(ageNs) / 1e9;
  const stated = heartbeatPeriodNs * MISSED_PERIODS;
  const timeout = stated > MIN_TIMEOUT_NS ? stated : MIN_TIMEOUT_NS;
  if (ageNs <= timeout)
    return { publisher: { state: 'live', reason: IS_LIVE, heartbeatAgeSeconds }, isServed: true };
  const isServed = stalledForNs === 0n || ageNs <= timeout + stalledForNs;
  // If the publisher's values are not served, operators see this reason, so its text should not change with each
  // poll.
  const silence = isServed
    ? heartbeatAgeSeconds.toFixed(1)
    : `more than ${Number(timeout + stalledForNs) / 1e9}`;
  const reason = `no heartbeat from the publisher for ${silence} s`;
  return { publisher: { state: 'stalled', reason, heartbeatAgeSeconds }, isServed };
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

// Verdicts on the workers of a target, and on the target.
import { liveVerdict } from '../foreign/polled-source.js';
import type { Verdict } from '../model.js';
import { pluralize } from '../pluralize.js';

/**
 * The states in which the values of a worker end. In others, such as `stalled` or `corrupt`, its last values stay, since
 * it may return.
 */
const ENDED_STATES: ReadonlySet<string> = new Set(['absent', 'closed', 'dead', 'superseded']);

/**
 * Returns the verdict on a target. If all running workers are stalled, this is the verdict on one of them: preferably
 * one that is still served, and of several the one with the latest heartbeat.
 * @param running the verdicts on the workers that run
 * @param counts the numbers of workers that are shown and left out
 * @param stalled a sentence for each stalled worker
 */
export function verdictOn(
  running: readonly Verdict[],
  counts: { readonly shown: number; readonly leftOut: number },
  refusals: readonly string[],
  stalled: readonly string[],
): Verdict {
  const [newest] = running.toSorted(
    (one, other) =>
      Number(one.isOverdue === true) - Number(other.isOverdue === true) ||
      (one.heartbeatAgeSeconds ?? Infinity) - (other.heartbeatAgeSeconds ?? Infinity),
  );
  if (newest !== undefined && running.every(({ state }) => state === 'stalled')) {
    const count = pluralize(running.length, 'worker is', 'workers are');
    return { ...newest, reason: `${count} stalled: ${newest.reason}` };
  }
  const verdict = liveVerdict(
    counts.shown,
    ['worker', 'workers'],
    [...refusals, ...stalled],
    counts.leftOut,
  );
  const { heartbeatAgeSeconds } = newest ?? {};
  return heartbeatAgeSeconds === undefined ? verdict : { ...verdict, heartbeatAgeSeconds };
}

/** Whether an operator must repair something. A worker that comes or goes is no fault. */
export const isFault = ({ state, reason }: Verdict): boolean =>
  state === 'corrupt' ||
  state === 'incompatible' ||
  (state === 'absent' && !/^(no segment|segment was removed)/.test(reason));

/** Whether the publisher of a segment has ended, or its segment is gone. */
export const hasEnded = (verdict: Verdict): boolean =>
  ENDED_STATES.has(verdict.state) && !isFault(verdict);

// The waits of one component, held against each other.
import type { Path } from '../../document/key-path.js';
import type { Report } from '../../rules/rule.js';

/** The waits of a component as its table has them. */
export interface Times {
  readonly intervalMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly staleAfter: number;
  readonly lostAfter: number;
}

/** The longest wait that a timer can hold; a longer one would end at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Reports waits that contradict each other. */
export function checkTimes(times: Times, path: Path, report: Report): void {
  const { intervalMs, requestTimeoutMs, connectTimeoutMs, staleAfter, lostAfter } = times;
  const maxIntervals = Math.floor(MAX_TIMER_MS / intervalMs);
  if (lostAfter <= staleAfter)
    report(
      [...path, 'lost_after'],
      `is ${lostAfter}, allowed: more than stale_after, which is ${staleAfter}`,
    );
  if (lostAfter > maxIntervals)
    report(
      [...path, 'lost_after'],
      `is ${lostAfter}, allowed: at most ${maxIntervals} with an interval_ms of ${intervalMs}`,
    );
  if (connectTimeoutMs > requestTimeoutMs)
    report(
      [...path, 'connect_timeout_ms'],
      `is ${connectTimeoutMs}, allowed: at most request_timeout_ms, which is ${requestTimeoutMs}`,
    );
}

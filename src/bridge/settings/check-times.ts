// Checks the times of one component against each other.
import type { Path } from '../../document/key-path.js';
import type { Report } from '../../rules/rule.js';

/** The times in a component's table. */
export interface Times {
  readonly intervalMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly staleAfter: number;
  readonly lostAfter: number;
}

/** The longest delay of a timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Reports times that contradict each other. */
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

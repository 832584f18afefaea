// The beginning and the end of a license, from the options of `shm_license issue`.
import { Fault } from '../errors.js';
import { integer, rule } from '../rules/rule.js';
import { parseUtc } from './utc-time.js';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

/** How long a license may last. */
export const days = integer(1, MAX_DAYS);
/** When it may begin and end. */
export const utcTime = rule(
  'string',
  'a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z',
  (raw) => (typeof raw === 'string' ? parseUtc(raw) : undefined),
);

/** Undefined where an option is not given. */
export interface TermOptions {
  readonly days?: number | undefined;
  readonly issuedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
}

export interface Term {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * A license begins at `--issued-at` (else now) and lasts `--days`; `--expires-at` overrides
 * --days. An end less than `--days` ahead moves a beginning that is not given back, so that `--days
 * 30 --expires-at <yesterday>` is a license of 30 days that has expired.
 * @throws Fault USAGE when the options do not say when it ends
 */
export function termOf(options: TermOptions, now: Date): Term {
  const daysMs = options.days === undefined ? undefined : options.days * DAY_MS;
  const { issuedAt, expiresAt } = options;
  const today = new Date(Math.floor(now.getTime() / 1000) * 1000);
  if (expiresAt === undefined) {
    if (daysMs === undefined)
      throw new Fault('USAGE', 'found neither --days nor --expires-at, needed: one of them');
    const beginning = issuedAt ?? today;
    return { issuedAt: beginning, expiresAt: new Date(beginning.getTime() + daysMs) };
  }
  const latest = expiresAt.getTime() - (daysMs ?? 0);
  return { issuedAt: issuedAt ?? new Date(Math.min(today.getTime(), latest)), expiresAt };
}

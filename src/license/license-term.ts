// From when to when a license is to be issued, as the options of `shm_license issue` say it.
import { Fault } from '../errors.js';
import { parseUtc } from './utc-time.js';

const DAY_MS = 86_400_000;
const MOST_DAYS = 36_500;

/** Option texts as given; undefined where an option is not. */
export interface TermOptions {
  readonly days?: string;
  readonly issuedAt?: string;
  readonly expiresAt?: string;
}

export interface Term {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * A license begins at `--issued-at` (else now) and lasts `--days`; `--expires-at` overrides the
 * latter. An end that lies less than `--days` ahead moves an unstated beginning back, so that
 * `--days 30 --expires-at <yesterday>` is a license of 30 days that has expired.
 * @throws Fault USAGE when the options do not make a term
 */
export function termOf(options: TermOptions, now: Date): Term {
  const daysMs = options.days === undefined ? undefined : parseDays(options.days) * DAY_MS;
  const issuedAt = parseTime('--issued-at', options.issuedAt);
  const expiresAt = parseTime('--expires-at', options.expiresAt);
  const today = new Date(Math.floor(now.getTime() / 1000) * 1000);
  if (expiresAt === undefined) {
    if (daysMs === undefined)
      throw new Fault('USAGE', 'Neither --days nor --expires-at says when the license ends');
    const beginning = issuedAt ?? today;
    return { issuedAt: beginning, expiresAt: new Date(beginning.getTime() + daysMs) };
  }
  const latest = expiresAt.getTime() - (daysMs ?? 0);
  return { issuedAt: issuedAt ?? new Date(Math.min(today.getTime(), latest)), expiresAt };
}

function parseDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MOST_DAYS) return days;
  throw new Fault('USAGE', `--days is ${JSON.stringify(text)}, where 1 to ${MOST_DAYS} is allowed`);
}

function parseTime(option: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseUtc(text);
  if (time !== undefined) return time;
  throw new Fault(
    'USAGE',
    `${option} is ${JSON.stringify(text)}, where a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z is needed`,
  );
}

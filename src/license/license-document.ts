// The fields of a license file, its times, and its term.
import { quoted } from '../document/document.js';
import { Fault } from '../errors.js';
import { integer, rule } from '../rules/rule.js';

/**
 * The fault for a license that cannot be used.
 * @param origin a sentence on where to get another license
 * @param cause the system's error, if the file cannot be read
 */
export const refusal = (sentence: string, origin = '', cause?: unknown): Fault =>
  new Fault('LICENSE_REJECTED', origin === '' ? sentence : `${sentence}; ${origin}`, { cause });

export const FIELDS = [
  'license_id',
  'licensee',
  'product',
  'issued_at',
  'expires_at',
  'key_id',
  'signature',
] as const;
type LicenseField = (typeof FIELDS)[number];

/** A well-formed license, not yet verified. */
export type LicenseDocument = Readonly<Record<LicenseField, string>>;

const MAX_FIELD_CHARACTERS = 256;

/**
 * Reads the fields of a license from JSON text.
 * @param place begins the sentence of a fault, such as `License file /etc/shm/license.json`
 * @throws Fault LICENSE_REJECTED for anything but an object with exactly the fields of a license
 */
export function parseDocument(text: string, place: string): LicenseDocument {
  const found = parseObject(text, place);
  const textOf = (field: LicenseField): string => {
    if (!Object.hasOwn(found, field)) throw refusal(`${place} has no field ${quoted(field)}`);
    const value = found[field];
    if (isFieldText(value)) return value;
    throw refusal(
      `${place} has ${nameOf(value)} in the field ${quoted(field)}, ` +
        `where a string of 1 to ${MAX_FIELD_CHARACTERS} printable characters is needed`,
    );
  };
  const document = Object.fromEntries(
    FIELDS.map((field) => [field, textOf(field)]),
  ) as LicenseDocument;
  // A restriction that this version does not know must not be ignored.
  const stranger = Object.keys(found).find((name) => !Object.hasOwn(document, name));
  if (stranger === undefined) return document;
  throw refusal(
    `${place} has the unknown field ${quoted(stranger)}; the fields of a license are ${FIELDS.join(', ')}`,
  );
}

function parseObject(text: string, place: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text, place);
  if (isRecord(value)) return value;
  throw refusal(`${place} holds ${nameOf(value)}, where a JSON object is needed`);
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal(`${place} is not JSON`);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFieldText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= MAX_FIELD_CHARACTERS &&
  !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value);

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'string' ? quoted(value) : `a ${typeof value}`;
}

/** ISO 8601 in UTC, such as 2026-01-31T00:00:00Z. */
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

export const formatUtc = (time: Date): string => time.toISOString().replace('.000Z', 'Z');

/** Parses `text`; undefined if it is not ISO 8601 in UTC. */
export function parseUtc(text: string): Date | undefined {
  if (!UTC_TIME.test(text)) return undefined;
  const time = new Date(text);
  // The engine turns February 30 into March 2; reject such a date instead.
  const exists =
    !Number.isNaN(time.getTime()) &&
    time.toISOString().startsWith(text.slice(0, 'YYYY-MM-DDThh:mm:ss'.length));
  return exists ? time : undefined;
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

export const days = integer(1, MAX_DAYS);
/** The beginning or the end of a license. */
export const utcTime = rule(
  'string',
  'a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z',
  (raw) => (typeof raw === 'string' ? parseUtc(raw) : undefined),
);

/** The options of `shm_license issue` that define the term. */
interface TermOptions {
  readonly days?: number | undefined;
  readonly issuedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
}

interface Term {
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * The term of a license. It begins at `--issued-at`, by default now, and ends `--days` later or at `--expires-at`. If
 * both `--days` and `--expires-at` are given, the default beginning is the earlier of two times: now, and `--days`
 * before the end. So `--days 30 --expires-at <yesterday>` gives an expired license of 30 days.
 * @throws Fault USAGE if neither `--days` nor `--expires-at` is given
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

// The license file as text: seven fields, each a short string, and nothing else.
import { quoted } from '../document/key-path.js';
import { refusal } from './refusal.js';

export const FIELDS = [
  'license_id',
  'licensee',
  'product',
  'issued_at',
  'expires_at',
  'key_id',
  'signature',
] as const;
type Field = (typeof FIELDS)[number];

/** A well-formed license, not yet verified. */
export type LicenseDocument = Readonly<Record<Field, string>>;

const MAX_FIELD_CHARACTERS = 256;

/**
 * Reads the fields of a license. `place` begins the sentence of a refusal, such as
 * `License file /etc/shm/license.json`.
 * @throws Fault LICENSE_REJECTED for anything but an object with exactly the fields of a license
 */
export function parseDocument(text: string, place: string): LicenseDocument {
  const found = parseObject(text, place);
  const textOf = (field: Field): string => {
    if (!Object.hasOwn(found, field)) throw refusal(`${place} has no field ${quoted(field)}`);
    const value = found[field];
    if (isFieldText(value)) return value;
    throw refusal(
      `${place} has ${nameOf(value)} in the field ${quoted(field)}, ` +
        `where a text of 1 to ${MAX_FIELD_CHARACTERS} printable characters is needed`,
    );
  };
  const document = {
    license_id: textOf('license_id'),
    licensee: textOf('licensee'),
    product: textOf('product'),
    issued_at: textOf('issued_at'),
    expires_at: textOf('expires_at'),
    key_id: textOf('key_id'),
    signature: textOf('signature'),
  };
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

// The names of time zones that the runtime knows.
import { shown } from '../document/document.js';
import { hint } from '../document/nearest.js';
import type { Rule } from './rule.js';

const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const ALLOWED = 'the IANA name of a time zone such as "Europe/London", or ""';

/** An IANA name, or empty. */
export const timeZone: Rule<string> = {
  type: 'string',
  allowed: ALLOWED,
  read(raw, path, report) {
    if (raw === '' || (typeof raw === 'string' && canonicalZone(raw) !== undefined)) return raw;
    const guess = typeof raw === 'string' ? hint(raw, knownZones()) : '';
    report(path, `found ${shown(raw)}${guess}, allowed: ${ALLOWED}`);
    return undefined;
  },
};

export const knownZones = (): readonly string[] => [...Intl.supportedValuesOf('timeZone'), 'UTC'];

/** The name of a zone as the runtime writes it; undefined if it knows no such zone. */
export function canonicalZone(name: string | undefined): string | undefined {
  if (name === undefined || !NAME.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

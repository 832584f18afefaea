// The names of time zones that the runtime knows.
import { shown } from '../document/key-path.js';
import { hint } from '../document/nearest.js';
import type { Rule } from './rule.js';

const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const ALLOWED = 'the IANA name of a time zone such as "Europe/London", or ""';

/** An IANA name, or empty. */
export const timeZone: Rule<string> = {
  type: 'string',
  allowed: ALLOWED,
  read(raw, path, report) {
    if (raw === '' || (typeof raw === 'string' && isZone(raw))) return raw;
    const guess = typeof raw === 'string' ? hint(raw, knownZones()) : '';
    report(path, `found ${shown(raw)}${guess}, allowed: ${ALLOWED}`);
    return undefined;
  },
};

const knownZones = (): readonly string[] => [...Intl.supportedValuesOf('timeZone'), 'UTC'];

function isZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

// The names of time zones that the runtime knows.
import { shown } from '../document/key-path.js';
import { nearest } from '../document/nearest.js';
import type { Rule } from './rule.js';

const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;
const ALLOWED = 'the IANA name of a time zone such as "Europe/London", or ""';

/** An IANA name, or empty. */
export const timeZone: Rule<string> = {
  type: 'string',
  allowed: ALLOWED,
  read(raw, path, report) {
    if (raw === '' || (typeof raw === 'string' && isZone(raw))) return raw;
    const near = typeof raw === 'string' ? nearest(raw, knownZones()) : undefined;
    const hint = near === undefined ? '' : `, the nearest known one is "${near}"`;
    report(path, `found ${shown(raw)}, allowed is ${ALLOWED}${hint}`);
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

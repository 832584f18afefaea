// Formats of values: numbers, names, addresses, wildcards, time zones.
import { isIPv4, isIPv6 } from 'node:net';
import { shown } from '../document/document.js';
import { hint } from '../document/nearest.js';
import { LOG_LEVELS } from '../model.js';
import type { LogLevel } from '../model.js';
import { list, oneOf, rule, text } from './rule.js';
import type { Rule } from './rule.js';

/** Parts of segment names and of routes: context, pool and server keys. */
export const name = text(
  /^(?!\.)[A-Za-z0-9_.-]{1,64}$/,
  'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."',
  // A key such as 82 without quotes is a number.
  (raw) => (typeof raw === 'bigint' && raw >= 0n ? ` (write "${raw}")` : ''),
);
/** Applications; metric names carry them as a prefix. */
export const application = text(
  /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  'a string of 1 to 64 letters, digits and "_" that starts with a letter',
);
/** Free text, perhaps empty. */
export const line = text(/^\P{Cc}{0,1024}$/u, 'a string of at most 1024 characters in one line');
/** Free text that is not empty. */
export const word = text(/^\P{Cc}{1,1024}$/u, 'a string of 1 to 1024 characters in one line');
export const words = list(word, { max: 1024 });
export const names = list(name, { min: 1, max: 1024, different: { by: String } });

export const ipv4 = rule('string', 'an IPv4 address such as "127.0.0.1"', (raw) =>
  typeof raw === 'string' && isIPv4(raw) ? raw : undefined,
);
/** `host:port`, `[IPv6]:port`, or `:port`. */
const LISTEN =
  /^(?:(?<name>[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}))|\[(?<ipv6>[0-9A-Fa-f:.]{2,45})\])?:(?<port>\d{1,5})$/;
export const listenAddress = rule(
  'string',
  'an address such as "127.0.0.1:9464", "[::1]:9464", "localhost:9464" or ":9464"',
  (raw) => (typeof raw === 'string' && hostAndPort(raw) !== undefined ? raw : undefined),
);

/** The parts of a listen address; an undefined host stands for all. Undefined for any other text. */
export function hostAndPort(
  text: string,
): { readonly host: string | undefined; readonly port: number } | undefined {
  const { name: host, ipv6, port } = LISTEN.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) return undefined;
  if (ipv6 !== undefined && !isIPv6(ipv6)) return undefined;
  return { host: ipv6 ?? host, port: Number(port) };
}
/** Base paths of scrapes: `/` and everything below `/-` are pages of our own. */
export const urlPath = text(
  /^(?!\/-(\/|$))(?=.{2,256}$)(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/,
  'a path such as "/metrics" whose parts are letters, digits, ".", "_", "~" and "-", ' +
    'of at most 256 characters and not below "/-"',
);

const level = oneOf(...LOG_LEVELS);
/** The levels of the log; `warn`, the word of Prometheus, is `warning`. */
export const logLevel: Rule<LogLevel> = {
  ...level,
  read: (raw, path, report) => level.read(raw === 'warn' ? 'warning' : raw, path, report),
};

/**
 * Whether a text fits a pattern: `*` stands for any text, also an empty one; every other character
 * for itself. The time is bounded by the lengths of pattern and text, whatever the pattern.
 */
export function compileWildcard(pattern: string): (text: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(start) || !text.endsWith(end)) return false;
    let at = start.length;
    // The leftmost match of each part leaves the most text for the parts after it.
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at + end.length <= text.length;
  };
}

/** Whether a text fits one of these patterns; an empty list accepts every text. */
export function fitsAny(text: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => compileWildcard(pattern)(text));
}

// The names of time zones that the runtime knows.
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

/** The default of `license_keys_dir` and of `shm_license verify --keys-dir`. */
export const LICENSE_KEYS_DIR = '/etc/shm_exporter/keys';

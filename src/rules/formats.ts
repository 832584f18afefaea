// Formats of values: numbers, names, addresses, wildcards, time zones.
import { isIPv4, isIPv6 } from 'node:net';
import { hint } from '../document/nearest.js';
import { LOG_LEVELS } from '../model.js';
import type { LogLevel } from '../model.js';
import { list, oneOf, rule, text } from './rule.js';
import type { Rule } from './rule.js';

/** A part of a segment name or route: a context id, pool name or server key. */
export const name = text(
  /^(?!\.)[A-Za-z0-9_.-]{1,64}$/,
  'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."',
  nameGuess,
);

/** A suggestion for an invalid name: about its type, a wildcard or a path. */
export function nameGuess(raw: unknown): string {
  // A server key such as 82 without quotes is an integer.
  if (typeof raw === 'bigint' && raw >= 0n) return ` (write "${raw}")`;
  if (typeof raw !== 'string') return '';
  if (/[*?]/.test(raw)) return ' (a name, not a pattern)';
  return raw.startsWith('/') ? fileGuess(raw) : '';
}

/**
 * A suggestion if the value is the path of a segment's file. The file's name ends in the server key:
 * `shmApp.pool.82`.
 */
function fileGuess(path: string): string {
  const file = path.split('/').at(-1) ?? '';
  const key = /^[^.]+\.[^.]+\.(.+)$/.exec(file)?.[1] ?? file;
  return key === '' ? '' : ` (did you mean ${JSON.stringify(key)}?)`;
}

export const isServerKey = (text: string): boolean =>
  name.read(text, [], () => undefined) !== undefined;

/** The name of an application. The names of its metrics begin with it. */
export const application = text(
  /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  'a string of 1 to 64 letters, digits and "_" that starts with a letter',
  (raw) => {
    const near = typeof raw === 'string' ? raw.replace(/[^A-Za-z0-9_]+/g, '_') : '';
    return /^[A-Za-z]\w{0,63}$/.test(near) ? ` (did you mean ${JSON.stringify(near)}?)` : '';
  },
);
/** Text in one line, perhaps empty. */
export const line = text(/^\P{Cc}{0,1024}$/u, 'a string of at most 1024 characters in one line');
/** Text in one line that is not empty. */
export const word = text(/^\P{Cc}{1,1024}$/u, 'a string of 1 to 1024 characters in one line');
export const words = list(word, { max: 1024 });
/** How a gauge of several worker processes is shown: one value of all workers, or a series for each worker. */
export const workerRule = oneOf('sum', 'min', 'max', 'each');
export type WorkerRule = 'sum' | 'min' | 'max' | 'each';
export const names = list(name, { min: 1, max: 1024, different: { by: String } });

export const ipv4 = rule(
  'string',
  'an IPv4 address such as "127.0.0.1"',
  (raw) => (typeof raw === 'string' && isIPv4(raw) ? raw : undefined),
  (raw) =>
    typeof raw === 'string' && isIPv6(raw)
      ? ' (metrics_listen_addresses takes IPv6 addresses)'
      : '',
);
/**
 * `host:port`, `[IPv6]:port`, `[IPv6%zone]:port` or `:port`. The zone is the name of a network interface, which has at
 * most 15 bytes. Node.js 20 cannot listen in a zone with other characters, such as `br_x`.
 */
const LISTEN =
  /^(?:(?<name>[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}))|\[(?<ipv6>[0-9A-Fa-f:.]{2,45})(?:%(?<zone>[A-Za-z0-9.-]{1,15}))?\])?:(?<port>\d{1,5})$/;
export const listenAddress = rule(
  'string',
  'an address such as "127.0.0.1:9464", "[::1]:9464", "[fe80::1%eth0]:9464", "localhost:9464" or ":9464"',
  (raw) => (typeof raw === 'string' && hostAndPort(raw) !== undefined ? raw : undefined),
  (raw) => (typeof raw === 'string' ? listenGuess(raw) : ''),
);

/**
 * Splits a listen address; returns undefined for an invalid one. The host of `:port` is undefined, which means all
 * addresses of the machine. A link-local address needs a zone, since several interfaces can have the same address.
 */
export function hostAndPort(
  text: string,
): { readonly host: string | undefined; readonly port: number } | undefined {
  const { name, ipv6, zone, port } = LISTEN.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) return undefined;
  if (ipv6 === undefined) return { host: name, port: Number(port) };
  if (!isIPv6(ipv6) || isLinkLocal(ipv6) !== (zone !== undefined)) return undefined;
  return { host: zone === undefined ? ipv6 : `${ipv6}%${zone}`, port: Number(port) };
}

/** Whether an IPv6 address is link-local: in `fe80::/10`. */
const isLinkLocal = (ipv6: string): boolean => /^fe[89ab][0-9a-f]:/i.test(ipv6);

/** A suggestion for an invalid listen address: about its brackets, its port or its zone. */
function listenGuess(raw: string): string {
  const bracketed = raw.replace(/^(?=.{1,80}$)([^[\]]*:[^[\]]*):(\d{1,5})$/, '[$1]:$2');
  if (hostAndPort(bracketed) !== undefined) return ` (did you mean ${JSON.stringify(bracketed)}?)`;
  if (hostAndPort(`${raw}:0`) !== undefined) return ' (the port is missing)';
  const parts = /^\[(?<ipv6>[0-9A-Fa-f:.]{2,45})(?:%(?<zone>[^\]]*))?\](?<port>:\d{1,5})?$/.exec(
    bracketed,
  );
  const { ipv6 = '', zone, port = ':9464' } = parts?.groups ?? {};
  if (!isIPv6(ipv6)) return '';
  if (!isLinkLocal(ipv6))
    return zone === undefined ? '' : ' (only link-local addresses, fe80::/10, have a zone)';
  if (zone === undefined || zone === '')
    return ` (a zone such as %eth0 is missing: "[${ipv6}%eth0]${port}")`;
  return ' (the zone is the name of an interface: 1 to 15 letters, digits, "." and "-")';
}
/** The base path of the scrape URLs. `/` and all paths below `/-` are other endpoints. */
export const urlPath = text(
  /^(?!\/-(\/|$))(?=.{2,256}$)(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/,
  'a path such as "/metrics" whose parts are letters, digits, ".", "_", "~" and "-", ' +
    'of at most 256 characters and not below "/-"',
);

const level = oneOf(...LOG_LEVELS);
/** A log level. Also accepts `warn`, which Prometheus uses for `warning`. */
export const logLevel: Rule<LogLevel> = {
  ...level,
  read: (raw, path, report) => level.read(raw === 'warn' ? 'warning' : raw, path, report),
};

/**
 * Returns a function that matches texts with a pattern. `*` in the pattern matches any text, even an empty one. A
 * match takes time at most proportional to the length of the pattern times the length of the text.
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

/** A pattern of server keys; `*` matches any text and `?` any character. */
export const namePattern = text(
  /^(?!\.)[A-Za-z0-9_.*?-]{1,64}$/,
  'a string of 1 to 64 letters, digits, "_", "-", ".", "*" and "?", not starting with "."',
);

/** Whether a name matches a pattern of `namePattern`. Takes time at most proportional to the product of their lengths. */
export function matchesName(name: string, pattern: string): boolean {
  let [at, inPattern] = [0, 0];
  // The last `*`, and the position in the name where the text that it matches ends.
  let [star, end] = [-1, 0];
  while (at < name.length) {
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      star = inPattern++;
      end = at;
    } else if (wanted === '?' || wanted === name[at]) {
      inPattern++;
      at++;
    } else if (star >= 0) {
      inPattern = star + 1;
      at = ++end;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** Whether a text matches one of the patterns. An empty list matches every text. */
export function fitsAny(text: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => compileWildcard(pattern)(text));
}

const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** An IANA name of a time zone, or empty. */
export const timeZone = rule(
  'string',
  'the IANA name of a time zone such as "Europe/London", or ""',
  (raw) =>
    raw === '' || (typeof raw === 'string' && canonicalZone(raw) !== undefined) ? raw : undefined,
  (raw) => (typeof raw === 'string' ? hint(raw, knownZones()) : ''),
);

export const knownZones = (): readonly string[] => [...Intl.supportedValuesOf('timeZone'), 'UTC'];

/** The name of a time zone as Node.js writes it; undefined for an unknown zone. */
export function canonicalZone(name: string | undefined): string | undefined {
  if (name === undefined || !ZONE_NAME.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The default of `license_keys_dir` and of `shm_license verify --keys-dir`. */
export const LICENSE_KEYS_DIR = '/etc/shm_exporter/keys';

// The rule of a web configuration file, in the format of the exporters of Prometheus.
import { keyPath, shown } from '../document/document.js';
import type { Path } from '../document/document.js';
import { word } from '../rules/formats.js';
import { integer, judged, list, oneOf, rule, text } from '../rules/rule.js';
import type { ReportProblem, Rule } from '../rules/rule.js';
import { isTable, optional, reportUnknownKeys, table } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

/** OpenSSL names of the secure cipher suites by IANA name. The first three belong to TLS 1.3. */
export const CIPHER_SUITES = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
} as const;

export const CURVES = {
  CurveP256: 'P-256',
  CurveP384: 'P-384',
  CurveP521: 'P-521',
  X25519: 'X25519',
} as const;

export const TLS_VERSIONS = { TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

const namesOf = <T extends object>(names: T): (keyof T & string)[] =>
  Object.keys(names) as (keyof T & string)[];

/** A rule that reads a table as a map. The keys of the table must pass the rule `key`. */
function mapOf<T>(name: string, key: Rule<string>, value: Rule<T>): Rule<ReadonlyMap<string, T>> {
  const read = (raw: unknown, path: Path, report: ReportProblem) => {
    if (!isTable(raw)) {
      report(path, `found ${typeof raw === 'string' ? 'a string' : shown(raw)}, allowed: ${name}`);
      return undefined;
    }
    const entries = Object.entries(raw).flatMap(([each, of]): [string, T][] => {
      const [as, is] = [
        key.read(each, [...path, each], report),
        value.read(of, [...path, each], report),
      ];
      return as === undefined || is === undefined ? [] : [[as, is]];
    });
    return new Map(entries);
  };
  return { type: 'table', allowed: name, read };
}

const NO_MAP: ReadonlyMap<string, string> = new Map();

/** Reads a number or boolean as text, as other exporters do. */
const spelled = (inner: Rule<string>): Rule<string> => ({
  ...inner,
  read: (raw, at, report) =>
    inner.read(/^(?:bigint|number|boolean)$/.test(typeof raw) ? String(raw) : raw, at, report),
});

const path = spelled(word);

/**
 * A text that messages never show, since it may be a password, a hash or a private key.
 * @param found describes a rejected text without showing it
 */
const secret = (
  shape: RegExp,
  allowed: string,
  found: (raw: string) => string = () => 'something else',
): Rule<string> =>
  judged(
    allowed,
    (raw) => (shape.test(raw) ? undefined : found(raw)),
    () => 'something else',
  );

/** The PEM text itself, in place of the file that `<name>_file` names. */
const pem = (name: string): Rule<string> =>
  secret(/^-----BEGIN /, `text in PEM; the path of a file belongs to ${name}_file`);

const TRUE = /^(y|Y|yes|Yes|YES|on|On|ON)$/;
const FALSE = /^(n|N|no|No|NO|off|Off|OFF)$/;

/** A boolean, also written as one of the words of YAML 1.1, which other exporters accept as well. */
const yesOrNo = rule<boolean>('boolean', 'true or false', (raw) => {
  if (typeof raw !== 'string') return typeof raw === 'boolean' ? raw : undefined;
  if (TRUE.test(raw)) return true;
  return FALSE.test(raw) ? false : undefined;
});

const TLS = {
  cert: optional(
    '',
    pem('cert'),
    'PEM text of the certificate of the server, in place of cert_file',
  ),
  key: optional('', pem('key'), 'PEM text of the private key, in place of key_file'),
  clientCa: optional(
    '',
    pem('client_ca'),
    'PEM text of the certificates, in place of client_ca_file',
  ),
  certFile: optional('', path, 'Certificate of the server, in PEM, with its chain'),
  keyFile: optional('', path, 'Private key of the certificate, in PEM'),
  clientAuthType: optional(
    'NoClientCert',
    oneOf(
      'NoClientCert',
      'RequestClientCert',
      'RequireAnyClientCert',
      'VerifyClientCertIfGiven',
      'RequireAndVerifyClientCert',
    ),
    'Whether clients must send a certificate, and whether it is verified',
  ),
  clientCaFile: optional(
    '',
    path,
    'Certificates of the authorities that sign client certificates, in PEM',
  ),
  clientAllowedSans: optional(
    [],
    list(spelled(word), { max: 1024 }),
    'A verified client certificate must have one of these names; an empty list allows all',
  ),
  minVersion: optional('TLS12', oneOf(...namesOf(TLS_VERSIONS)), 'Lowest version of TLS'),
  maxVersion: optional('TLS13', oneOf(...namesOf(TLS_VERSIONS)), 'Highest version of TLS'),
  cipherSuites: optional(
    [],
    list(oneOf(...namesOf(CIPHER_SUITES)), { max: 64 }),
    'Cipher suites; an empty list uses the defaults of Node.js',
  ),
  preferServerCipherSuites: optional(
    true,
    yesOrNo,
    'Whether the cipher suite order of the server has priority',
  ),
  curvePreferences: optional(
    [],
    list(oneOf(...namesOf(CURVES)), { max: 16 }),
    'Curves; an empty list uses the defaults of Node.js',
  ),
};

export type TlsTable = ValuesOf<typeof TLS>;

const filled = table('a table of TLS settings', TLS);
const tls: Rule<TlsTable | null> = {
  ...filled,
  // An empty table means no TLS, as in other exporters.
  read: (raw, at, report) =>
    isTable(raw) && Object.keys(raw).length === 0 ? null : filled.read(raw, at, report),
};

/** The response headers that the format allows. They are safe for every page. */
const HEADERS = [
  'Content-Security-Policy',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
  'X-Frame-Options',
  'X-XSS-Protection',
] as const;

const headerValue = spelled(
  text(/^[\x20-\x7e]{0,4096}$/, 'a string of at most 4096 printable ASCII characters'),
);

const headers: Rule<ReadonlyMap<string, string>> = {
  type: 'table',
  allowed: 'a table of headers',
  read(raw, at, report) {
    if (isTable(raw)) reportUnknownKeys(raw, HEADERS, at, report);
    return mapOf(this.allowed, word, headerValue).read(raw, at, report);
  },
};

const HTTP = {
  http2: optional(true, yesOrNo, 'Accepted without effect: pages are served over HTTP/1.1'),
  headers: optional(NO_MAP, headers, 'Headers of every response'),
};

/** The name of a user. In basic authentication, a colon ends it. */
const userName = text(/^[^:\p{Cc}]{1,256}$/u, 'a name of 1 to 256 characters without ":"');

const hash = secret(
  /^\$2[aby]\$(0[4-9]|1[0-6])\$[./A-Za-z0-9]{53}$/,
  'a bcrypt hash with a cost of 4 to 16, as "htpasswd -nBC 10 NAME" prints it after the name',
  (raw) => {
    if (/^[^:$]+:\$2[aby]\$/.test(raw)) return 'a name before the hash';
    if (/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(raw)) return 'a bcrypt hash with another cost';
    if (/^\$2[aby]?\$/.test(raw)) return 'an incomplete bcrypt hash';
    if (/^(\$[a-z0-9]+\$|\{SHA\})/.test(raw)) return 'a hash of another kind';
    return 'no hash, perhaps the password itself';
  },
);

/** Matches a duration of Go. */
const DURATION = /^\+?(?:0|(?:(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:[nu\u00b5\u03bcm]s|[smh]))+)$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ ns: 1e-6, us: 1e-3, '\u00b5s': 1e-3, '\u03bcs': 1e-3, ms: 1 },
  ...{ s: 1000, m: 60_000, h: 3_600_000 },
};

const durationMs: Rule<number> = rule(
  'string',
  'a time such as "100ms", "1.5s" or "1m30s"; "0" for no limit',
  (raw) => {
    const spelled = raw === 0n ? '0' : raw;
    if (typeof spelled !== 'string' || !DURATION.test(spelled)) return undefined;
    const parts = [...spelled.matchAll(/([\d.]+)([a-z\u00b5\u03bc]+)/g)];
    return parts.reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
      0,
    );
  },
);

const RATE = {
  interval: optional(0, durationMs, 'Time after which one more request is admitted'),
  burst: optional(1, integer(1, 1_000_000), 'Maximum number of requests in a burst'),
};

/** The interval is in milliseconds. */
export type RateLimit = ValuesOf<typeof RATE>;

const webConfig = table('a table', {
  tlsServerConfig: optional<TlsTable | null>(null, tls, 'Serves HTTPS in place of HTTP'),
  httpServerConfig: optional(
    { http2: true, headers: NO_MAP },
    table('a table of HTTP settings', HTTP),
    'Headers',
  ),
  basicAuthUsers: optional(
    NO_MAP,
    mapOf('a table of names and bcrypt hashes', userName, hash),
    'Users and the hashes of their passwords; with at least one user, every page requires a password',
  ),
  rateLimit: optional<RateLimit>(
    { interval: 0, burst: 1 },
    table('a table with interval and burst', RATE),
    'Limit for the requests of all clients together; further requests get 429',
  ),
});

/** Matches a quoted value that may be a secret: all but a short text of letters, digits and path characters. */
const FOUND_SECRET = /^found "(?![\w .:/-]{1,32}")(?:[^"\\]|\\.)*"/;

/** Matches any quoted value, and any number. */
const FOUND_SCALAR = /^found (?:"(?:[^"\\]|\\.)*"|[-.\d][^,]*)/;

/** Whether the value at a path may be a password: below `basic_auth_users`, or in a file that is not a table. */
const mayBePassword = ([section]: Path): boolean =>
  section === undefined || section === 'basic_auth_users';

/** The rule of the whole file. Its messages do not show a misplaced hash, key or password. */
export const WEB_CONFIG: typeof webConfig = {
  ...webConfig,
  read: (raw, at, report) =>
    webConfig.read(raw, at, (path, sentence, mark) => {
      const hidden = mayBePassword(path) ? FOUND_SCALAR : FOUND_SECRET;
      report(path, sentence.replace(hidden, 'found something else'), mark);
    }),
};

/** The name of a value in messages. `…` replaces a part that may be a misplaced secret. */
export const webConfigName = (path: Path): string =>
  keyPath(path.map((part) => (typeof part === 'number' || isShown(part, path) ? part : '…')));

const isShown = (part: string, [section]: Path): boolean =>
  /^(?:[A-Za-z_-]{1,32}|http2)$/.test(part) ||
  (section === 'basic_auth_users' && /^[\w.@-]{1,32}$/.test(part));

// The keys of the bridge's configuration file, one row each.
import { LOG_FORMATS } from '../../logs/log-format.js';
import { line, logLevel, name, words } from '../../rules/formats.js';
import { flag, indexed, integer, list, oneOf, refined } from '../../rules/rule.js';
import { optional, required, table } from '../../rules/table.js';
import type { ValuesOf } from '../../rules/table.js';
import { checkTimes } from './check-times.js';
import { baseAddress, hostName, keySource, seedPrefix } from './component-formats.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR_MS = 3_600_000;

/** The keys of a `[[components]]` table. */
export const COMPONENT = {
  name: required('name', name, 'What the component is called in the log; no two share one'),
  url: required(
    'url',
    baseAddress,
    'Base address of its JSON view, http or https; /sharedmem is appended',
  ),
  serverKey: required(
    'server_key',
    name,
    'Server key to publish under; no two components share one, as each has a segment of its own',
  ),
  securityKey: optional(
    'security_key',
    '',
    keySource,
    'Where the security key comes from; empty sends none. Only the owner may be able to read a file',
  ),
  intervalMs: optional(
    'interval_ms',
    5000,
    integer(1000, HOUR_MS),
    'Milliseconds from the start of a poll to the next',
  ),
  requestTimeoutMs: optional(
    'request_timeout_ms',
    2000,
    integer(100, 600_000),
    'Milliseconds for a whole answer, from the request to its last byte',
  ),
  connectTimeoutMs: optional(
    'connect_timeout_ms',
    1000,
    integer(100, 600_000),
    'Milliseconds to connect, name look-up and TLS handshake included',
  ),
  maxBackOffMs: optional(
    'max_back_off_ms',
    60_000,
    integer(1000, HOUR_MS),
    'While polls fail, the interval doubles with each failure up to this',
  ),
  staleAfter: optional(
    'stale_after',
    3,
    integer(1, 10_000),
    'Intervals without a tree after which the roots go to the state auto_recovery',
  ),
  lostAfter: optional(
    'lost_after',
    12,
    integer(2, 100_000),
    'Intervals without a tree after which the roots are removed; more than stale_after, and within 24 days',
  ),
  tlsVerify: optional(
    'tls_verify',
    true,
    flag,
    'Whether the certificate of an https address must be valid',
  ),
  caFile: optional(
    'ca_file',
    '',
    line,
    'Certificates in PEM to trust instead of the well-known authorities, such as a self-signed one',
  ),
  deflate: optional(
    'deflate',
    'auto',
    oneOf('auto', 'always', 'never'),
    'Whether to request a compressed body; auto does so unless the component is on this host',
  ),
  classes: optional(
    'classes',
    [],
    words,
    'Class ids to publish, * stands for any text; empty publishes all',
  ),
  excludeClasses: optional(
    'exclude_classes',
    [],
    words,
    'Class ids to leave out, * stands for any text; objects below them stay',
  ),
  seedPaths: optional(
    'seed_paths',
    [],
    list(seedPrefix, { max: 1024 }),
    'Seed paths to publish, with everything below them; @root stands for the root alone; empty publishes all',
  ),
  excludeVariables: optional(
    'exclude_variables',
    [],
    words,
    'Names of variables to leave out, * stands for any text: personal data such as loginName',
  ),
  maxBodyBytes: optional(
    'max_body_bytes',
    64 * MIB,
    // V8 has no longer texts.
    integer(KIB, 511 * MIB),
    'Maximum size of a body in bytes, compressed or decompressed',
  ),
  maxObjects: optional(
    'max_objects',
    50_000,
    integer(1, 200_000),
    'Maximum number of objects in a tree',
  ),
  maxVariables: optional(
    'max_variables',
    500_000,
    integer(1, 1_000_000),
    'Maximum number of variables in a tree',
  ),
  maxDepth: optional(
    'max_depth',
    64,
    integer(1, 64),
    'Maximum number of objects on a path, including the root',
  ),
};

export type ComponentTable = ValuesOf<typeof COMPONENT> & { readonly index: number };

const component = indexed(refined(table('a [[components]] table', COMPONENT), checkTimes));

const components = list(component, {
  min: 1,
  max: 64,
  different: [
    { by: (each) => each.name, at: 'name' },
    { by: (each) => each.serverKey, at: 'server_key' },
  ],
});

/** The top-level keys. */
export const BRIDGE = {
  contextId: optional('context_id', 'shmApp', name, 'Context id of the shared-memory pool'),
  poolName: optional('pool_name', 'pool', name, 'Name of the shared-memory pool'),
  host: optional(
    'host',
    '',
    hostName,
    "Host in the id of the bridge's own root; empty takes the name of this host",
  ),
  debug: optional('debug', false, flag, 'Logs every poll, as log_level = "debug" does'),
  logLevel: optional('log_level', 'info', logLevel, 'Least level of the events that are logged'),
  logFormat: optional(
    'log_format',
    'text',
    oneOf(...LOG_FORMATS),
    'Form of log lines. To the journal of systemd, lines have priorities and no time',
  ),
};

/** A configuration file of the bridge. */
export const BRIDGE_FILE = table('a table', {
  ...BRIDGE,
  components: required('components', components, 'What is polled, one table a component'),
});

// The settings of a component: the rules of its table, warnings, and its security key.
import type { Path } from '../../document/document.js';
import { messageOf } from '../../errors.js';
import { LOG_FORMATS } from '../../logs/log.js';
import { line, logLevel, name, words } from '../../rules/formats.js';
import { flag, indexed, integer, list, oneOf, refined } from '../../rules/rule.js';
import type { Problems } from '../../rules/problems.js';
import type { ReportProblem } from '../../rules/rule.js';
import { optional, required, table } from '../../rules/table.js';
import type { ValuesOf } from '../../rules/table.js';
import { PollFailure } from '../poll/fetch-body.js';
import type { Endpoint } from '../poll/fetch-body.js';
import { compileSelection } from '../tree/selection.js';
import type { TreeSelection } from '../tree/selection.js';
import {
  baseAddress,
  hostName,
  isLocal,
  keySource,
  seedPrefix,
  treeUrlOf,
} from './component-formats.js';
import { readCertificates, readSecurityKey } from './security-key.js';
import type { KeyReader } from './security-key.js';

/** The longest delay of a Node.js timer. A timer with a longer delay would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Reports times that contradict each other. */
function checkTimes(times: ValuesOf<typeof COMPONENT>, path: Path, report: ReportProblem): void {
  const { intervalMs, requestTimeoutMs, connectTimeoutMs, staleAfter, lostAfter } = times;
  const maxIntervals = Math.floor(MAX_TIMER_MS / intervalMs);
  if (lostAfter <= staleAfter)
    report(
      [...path, 'lost_after'],
      `is ${lostAfter}, allowed: more than stale_after, which is ${staleAfter}`,
    );
  if (lostAfter > maxIntervals)
    report(
      [...path, 'lost_after'],
      `is ${lostAfter}, allowed: at most ${maxIntervals} with an interval_ms of ${intervalMs}`,
    );
  if (connectTimeoutMs > requestTimeoutMs)
    report(
      [...path, 'connect_timeout_ms'],
      `is ${connectTimeoutMs}, allowed: at most request_timeout_ms, which is ${requestTimeoutMs}`,
    );
}

const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR_MS = 3_600_000;

/** The keys of a `[[components]]` table. */
export const COMPONENT = {
  name: required(name, 'Name of the component in the log. Each component needs a different name'),
  url: required(baseAddress, 'Base http or https address of the JSON view, without /sharedmem'),
  serverKey: required(name, 'Server key of the segment. Each component needs a different key'),
  securityKey: optional(
    '',
    keySource,
    'Source of the security key. An empty string sends no key. Only the owner of a key file may have access to it',
  ),
  intervalMs: optional(
    5000,
    integer(1000, HOUR_MS),
    'Milliseconds from the start of a poll to the start of the next poll',
  ),
  requestTimeoutMs: optional(
    2000,
    integer(100, 600_000),
    'Maximum milliseconds from the request to the last byte of the answer',
  ),
  connectTimeoutMs: optional(
    1000,
    integer(100, 600_000),
    'Maximum milliseconds to connect, including name look-up and TLS handshake',
  ),
  maxBackOffMs: optional(
    60_000,
    integer(1000, HOUR_MS),
    'Maximum delay after failed polls, in milliseconds. Each failure doubles the interval',
  ),
  staleAfter: optional(
    3,
    integer(1, 10_000),
    'The data is stale after this many intervals without a tree: the roots get the state auto_recovery',
  ),
  lostAfter: optional(
    12,
    integer(2, 100_000),
    'The roots are removed after this many intervals without a tree. The number must be greater than stale_after; the intervals together may last at most 24 days',
  ),
  tlsVerify: optional(true, flag, 'Whether the certificate of an https address must be valid'),
  caFile: optional(
    '',
    line,
    'File of PEM certificates to trust instead of the default certificate authorities',
  ),
  deflate: optional(
    'auto',
    oneOf('auto', 'always', 'never'),
    'Whether to request a compressed body. auto requests one only from other hosts',
  ),
  classes: optional(
    [],
    words,
    'Class ids to publish; * matches any text. An empty list publishes all',
  ),
  excludeClasses: optional(
    [],
    words,
    'Class ids to exclude; * matches any text. The objects below an excluded object are not excluded with it',
  ),
  seedPaths: optional(
    [],
    list(seedPrefix, { max: 1024 }),
    'Seed paths to publish, with the objects below them. @root selects only the root. An empty list publishes all',
  ),
  excludeVariables: optional(
    [],
    words,
    'Variables to exclude, such as loginName (personal data); * matches any text',
  ),
  maxBodyBytes: optional(
    64 * MIB,
    // The maximum is the longest string that V8 supports.
    integer(KIB, 511 * MIB),
    'Maximum size of a body in bytes, compressed or decompressed',
  ),
  maxObjects: optional(50_000, integer(1, 200_000), 'Maximum number of objects of a tree'),
  maxVariables: optional(500_000, integer(1, 1_000_000), 'Maximum number of variables of a tree'),
  maxDepth: optional(64, integer(1, 64), 'Maximum number of levels of objects, including the root'),
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
  contextId: optional('shmApp', name, 'Context id of the shared-memory pool'),
  poolName: optional('pool', name, 'Name of the shared-memory pool'),
  host: optional(
    '',
    hostName,
    "Host in the id of the bridge's own root. The default is the name of this host",
  ),
  debug: optional(false, flag, 'Logs every poll, as log_level = "debug" does'),
  logLevel: optional('info', logLevel, 'Lowest level that is logged'),
  logFormat: optional('text', oneOf(...LOG_FORMATS), 'Format of log lines'),
};

/** A configuration file of the bridge. */
export const BRIDGE_FILE = table('a table', {
  ...BRIDGE,
  components: required(components, 'The components to poll, one table each'),
});

/** Adds a warning about the value of a key. */
type Warn = (key: string, sentence: string) => void;

/** Warns of settings that are valid but probably not intended. @param url the address to poll */
function warnOf(table: ComponentTable, url: URL, warn: Warn): void {
  const { securityKey, caFile, tlsVerify, requestTimeoutMs, intervalMs } = table;
  if (url.protocol === 'http:') {
    if (securityKey !== '' && !isLocal(url))
      warn('url', 'sends the security key over the network as clear text; use https');
    if (caFile !== '') warn('ca_file', 'has no effect with http');
    if (!tlsVerify) warn('tls_verify', 'has no effect with http');
  } else if (!tlsVerify) {
    warn(
      'tls_verify',
      'any certificate is accepted: anyone between the bridge and the component can read the security key and forge values',
    );
    if (caFile !== '') warn('ca_file', 'has no effect while tls_verify is false');
  }
  if (requestTimeoutMs > intervalMs)
    warn(
      'request_timeout_ms',
      'is longer than interval_ms, so a slow answer makes the bridge skip polls',
    );
}

/** One component, ready to be polled: its settings, with the security key in place of the key's source. */
export interface ComponentConfig extends ComponentTable {
  readonly endpoint: Endpoint;
  /** Reads the current security key from its source. @throws Fault CONFIG_INVALID */
  readonly readKey: () => string;
  readonly selection: TreeSelection;
}

/**
 * The component that a checked table configures. If a file or key cannot be used, returns undefined and adds a
 * problem.
 */
export function componentOf(
  table: ComponentTable,
  keys: KeyReader,
  problems: Problems,
  warn: Warn,
): ComponentConfig | undefined {
  const url = treeUrlOf(table.url);
  const path = ['components', table.index];
  const { caFile, deflate, tlsVerify, connectTimeoutMs, maxBodyBytes } = table;
  const readKey = () => readSecurityKey(table.securityKey, keys);
  const securityKey = problems.catch([...path, 'security_key'], readKey);
  const ca =
    caFile === '' ? '' : problems.catch([...path, 'ca_file'], () => readCertificates(caFile));
  warnOf(table, url, warn);
  if (securityKey === undefined || ca === undefined) return undefined;
  return {
    ...table,
    securityKey,
    readKey,
    endpoint: {
      ...{ url, tlsVerify, connectTimeoutMs, maxBodyBytes },
      ca: ca === '' ? undefined : ca,
      deflate: deflate === 'auto' ? !isLocal(url) : deflate === 'always',
    },
    selection: compileSelection(table),
  };
}

/** Holds the security key in use. If the component refused the key, reads it again before the next poll. */
export class KeyHolder {
  readonly #component: Pick<ComponentConfig, 'readKey'>;
  #key: string;
  /** True if the component refused the key at the last poll. */
  isRefused = false;

  constructor(component: Pick<ComponentConfig, 'readKey' | 'securityKey'>) {
    this.#component = component;
    this.#key = component.securityKey;
  }

  /** The key for the next poll. @throws PollFailure `no_key` if a refused key cannot be read again */
  current(): string {
    if (!this.isRefused) return this.#key;
    try {
      this.#key = this.#component.readKey();
    } catch (error) {
      throw new PollFailure(
        'no_key',
        `the key was refused and cannot be read again: ${messageOf(error)}`,
      );
    }
    return this.#key;
  }
}

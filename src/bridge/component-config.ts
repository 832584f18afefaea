// One component as its table in the configuration file describes it.
import { X509Certificate } from 'node:crypto';
import { quoted } from '../document/key-path.js';
import { readText } from '../document/text-file.js';
import { Fault, messageOf } from '../errors.js';
import type { ComponentTable } from './component-table.js';
import type { Endpoint } from './fetch-body.js';
import type { Notes } from './notes.js';
import type { Pace } from './polling.js';
import type { TreeLimits } from './read-tree.js';
import { readSecurityKey } from './security-key.js';
import type { Environment } from './security-key.js';
import { compileSelection } from './selection.js';
import type { Selection } from './selection.js';
import type { Patience } from './standing.js';

/** One component, ready to be polled. */
export interface ComponentConfig {
  readonly name: string;
  /** From 1, in the order of the file. */
  readonly number: number;
  readonly serverKey: string;
  readonly endpoint: Endpoint;
  readonly requestTimeoutMs: number;
  /** The security key as its source has it now. @throws Fault CONFIG_INVALID */
  readonly readKey: () => string;
  readonly securityKey: string;
  readonly pace: Pace;
  readonly patience: Patience;
  readonly limits: TreeLimits;
  readonly selection: Selection;
}

const VIEW = '/sharedmem';

/** The component that a checked table describes; undefined once a problem is noted. */
export function componentOf(
  table: ComponentTable,
  index: number,
  environment: Environment,
  notes: Notes,
): ComponentConfig | undefined {
  const url = viewAt(table.url, notes);
  const readKey = () => readSecurityKey(table.securityKey, environment);
  const securityKey = notes.catch('security_key', readKey);
  const ca = table.caFile === '' ? undefined : notes.catch('ca_file', () => readCa(table.caFile));
  const selection = selectionOf(table, notes);
  if (table.staleAfter >= table.lostAfter)
    notes.refuse(
      'lost_after',
      `found ${table.lostAfter}, allowed is more than stale_after, ${table.staleAfter}`,
    );
  if (table.connectTimeoutMs > table.requestTimeoutMs)
    notes.refuse(
      'connect_timeout_ms',
      `found ${table.connectTimeoutMs}, allowed is at most request_timeout_ms, ${table.requestTimeoutMs}`,
    );
  if (url === undefined || securityKey === undefined || selection === undefined) return undefined;
  warnOf(table, url, notes);
  const { intervalMs } = table;
  return {
    name: table.name,
    number: index + 1,
    serverKey: table.serverKey,
    endpoint: {
      url,
      tlsVerify: table.tlsVerify,
      ca,
      deflate: table.deflate === 'auto' ? !isLocal(url) : table.deflate === 'always',
      connectTimeoutMs: table.connectTimeoutMs,
      maxBodyBytes: table.maxBodyBytes,
    },
    requestTimeoutMs: table.requestTimeoutMs,
    readKey,
    securityKey,
    pace: { intervalMs, mostBackOffMs: table.maxBackOffMs },
    patience: {
      staleAfterMs: table.staleAfter * intervalMs,
      lostAfterMs: table.lostAfter * intervalMs,
    },
    limits: {
      maxObjects: table.maxObjects,
      maxVariables: table.maxVariables,
      maxDepth: table.maxDepth,
    },
    selection,
  };
}

/** The address of the whole tree below a base address. */
function viewAt(base: string, notes: Notes): URL | undefined {
  const trimmed = base.replace(/\/+$/, '');
  if (trimmed.endsWith(VIEW)) {
    notes.refuse(
      'url',
      `found ${quoted(base)}, allowed is the address without ${VIEW}, which is added`,
    );
    return undefined;
  }
  if (URL.canParse(`${trimmed}${VIEW}`)) return new URL(`${trimmed}${VIEW}`);
  notes.refuse('url', `found ${quoted(base)}, which is no address: host or port is wrong`);
  return undefined;
}

/** @throws Fault CONFIG_INVALID */
function readCa(file: string): string {
  const text = readText(file);
  try {
    new X509Certificate(text).checkIP('127.0.0.1');
    return text;
  } catch (error) {
    throw new Fault('CONFIG_INVALID', `${file} holds no certificate in PEM: ${messageOf(error)}`);
  }
}

function selectionOf(table: ComponentTable, notes: Notes): Selection | undefined {
  const { classes, excludeClasses, seedPaths, excludeVariables } = table;
  const settings = { classes, excludeClasses, seedPaths: [], excludeVariables };
  const compiled = seedPaths.map((seedPath, index) =>
    notes.catch(
      'seed_paths',
      () => compileSelection({ ...settings, seedPaths: [seedPath] }),
      index,
    ),
  );
  if (compiled.includes(undefined)) return undefined;
  return compileSelection({ ...settings, seedPaths });
}

function warnOf(table: ComponentTable, url: URL, notes: Notes): void {
  const isPlain = url.protocol === 'http:';
  if (isPlain && table.securityKey !== '' && !isLocal(url))
    notes.warn('url', 'sends the security key over the network as clear text; use https');
  if (isPlain && table.caFile !== '') notes.warn('ca_file', 'has no effect with http');
  if (!isPlain && !table.tlsVerify)
    notes.warn(
      'tls_verify',
      'any certificate will do: whoever sits between can read the security key',
    );
  if (table.requestTimeoutMs > table.intervalMs)
    notes.warn('request_timeout_ms', 'is longer than interval_ms, so slow answers cost polls');
}

const isLocal = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

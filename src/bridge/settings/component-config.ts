// One component as its table in the configuration file describes it.
import { viewOf } from './component-formats.js';
import type { ComponentTable } from './component-table.js';
import { warnOf } from './component-warnings.js';
import type { Endpoint } from '../poll/fetch-body.js';
import { isLocal } from './is-local.js';
import type { Notes } from './notes.js';
import type { Pace } from '../poll/polling.js';
import type { TreeLimits } from '../tree/read-tree.js';
import { readSecurityKey } from './security-key.js';
import type { KeyReader } from './security-key.js';
import { compileSelection } from '../tree/selection.js';
import type { Selection, SelectionSettings } from '../tree/selection.js';
import type { Patience } from '../poll/standing.js';
import { readCertificates } from './trusted-certificates.js';

/** One component, ready to be polled. */
export interface ComponentConfig {
  readonly name: string;
  /** From 1, in the order of the file. */
  readonly number: number;
  readonly serverKey: string;
  readonly endpoint: Endpoint;
  readonly requestTimeoutMs: number;
  /** Reads the current security key from its source. @throws Fault CONFIG_INVALID */
  readonly readKey: () => string;
  readonly securityKey: string;
  readonly pace: Pace;
  readonly patience: Patience;
  readonly limits: TreeLimits;
  readonly selection: Selection;
  /** The settings that the selection was compiled from. */
  readonly selected: SelectionSettings;
}

/** The component of a checked table; undefined if a problem was noted. */
export function componentOf(
  table: ComponentTable,
  keys: KeyReader,
  notes: Notes,
): ComponentConfig | undefined {
  const url = viewOf(table.url);
  const { intervalMs, caFile } = table;
  const readKey = () => readSecurityKey(table.securityKey, keys);
  const securityKey = notes.catch('security_key', readKey);
  const ca = caFile === '' ? '' : notes.catch('ca_file', () => readCertificates(caFile));
  warnOf(table, url, notes);
  if (securityKey === undefined || ca === undefined) return undefined;
  return {
    name: table.name,
    number: table.index + 1,
    serverKey: table.serverKey,
    endpoint: {
      url,
      tlsVerify: table.tlsVerify,
      ca: ca === '' ? undefined : ca,
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
    selection: compileSelection(table),
    selected: table,
  };
}

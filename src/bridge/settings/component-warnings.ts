// Warnings about valid settings of a component that are probably not intended.
import type { ComponentTable } from './component-table.js';
import { isLocal } from './is-local.js';
import type { Notes } from './notes.js';

/** @param url where the component is polled */
export function warnOf(table: ComponentTable, url: URL, notes: Notes): void {
  const { securityKey, caFile, tlsVerify, requestTimeoutMs, intervalMs } = table;
  if (url.protocol === 'http:') {
    if (securityKey !== '' && !isLocal(url))
      notes.warn('url', 'sends the security key over the network as clear text; use https');
    if (caFile !== '') notes.warn('ca_file', 'has no effect with http');
    if (!tlsVerify) notes.warn('tls_verify', 'has no effect with http');
  } else if (!tlsVerify) {
    notes.warn(
      'tls_verify',
      'any certificate is accepted: anyone on the way can read the security key and forge values',
    );
    if (caFile !== '') notes.warn('ca_file', 'has no effect while tls_verify is false');
  }
  if (requestTimeoutMs > intervalMs)
    notes.warn('request_timeout_ms', 'is longer than interval_ms, so slow answers cost polls');
}

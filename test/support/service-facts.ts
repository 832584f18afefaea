// The version, start time, license and configuration of a process, for tests of the pages.
import type { ProcessInfo } from '#app/sinks/http/pages/status-page.js';

const STARTED_MS = Date.UTC(2026, 0, 5, 8);

export const serviceFacts: ProcessInfo = {
  version: '1.2.3',
  revision: '0123456789abcdef0123456789abcdef01234567',
  node: '24.1.0',
  startedMs: STARTED_MS,
  license: { state: 'valid', severity: 'good', expiresMs: STARTED_MS + 864e5, warning: '' },
  configuration: { acceptedMs: STARTED_MS, refusedMs: undefined },
};

// Metrics of the process: its build, its license, its configuration, its memory.
import { setInterval } from 'node:timers';
import { LICENSE_STATES } from '../license/license.js';
import type { LicenseStatus, LicenseState } from '../license/license.js';
import { returnFreePages, returnFreed } from '../native/os/libc.js';
import type { LicenseFacts, ServiceFacts } from '../sinks/http/pages/status-page.js';
import type { SelfMetrics } from '../sinks/self-metrics.js';
import type { WebConfigReload } from '../web-config/watched-web-config.js';

/** What was built, and what runs it. */
export interface Build {
  readonly version: string;
  /** The commit, in hexadecimal digits; empty if the build did not know it. */
  readonly revision: string;
  /** The version of Node. */
  readonly node: string;
}

const MOODS = {
  valid: 'good',
  grace: 'warn',
  expired: 'bad',
  early: 'bad',
  invalid: 'bad',
} as const satisfies Record<LicenseState, LicenseFacts['mood']>;

/** The names follow Prometheus's own, so that rules for those can be used. */
export class ServiceMetrics {
  readonly #expiry: (value: number) => void;
  readonly #licenseState: (value: number, labels: { readonly state: string }) => void;
  readonly #scopes: (value: number) => void;
  readonly #isReloaded: (value: number) => void;
  readonly #reloadedAt: (value: number) => void;
  readonly #hash: (value: number) => void;
  #facts: ServiceFacts;

  /** @param startedMs when the process began, in Unix milliseconds */
  constructor(
    metrics: Pick<SelfMetrics, 'gauge'>,
    { version, revision, node }: Build,
    startedMs: number,
  ) {
    const configuration = { takenMs: startedMs, refusedMs: undefined };
    this.#facts = { version, revision, node, startedMs, license: undefined, configuration };
    const build = metrics.gauge(
      'shm_exporter_build_info',
      'Version and commit of the exporter, and version of Node; always 1.',
      ['version', 'revision', 'nodeversion'],
    );
    build(1, { version, revision, nodeversion: node });
    this.#expiry = metrics.gauge(
      'shm_exporter_license_expiry_timestamp_seconds',
      'When the license expires or expired, as a Unix timestamp; grace is not counted.',
    );
    this.#licenseState = metrics.gauge(
      'shm_exporter_license_state',
      'State of the license, one series a state; with any but valid and grace a start would be refused.',
      ['state'],
    );
    this.#scopes = metrics.gauge(
      'shm_exporter_scopes_unmatched',
      'Metric scopes that can select nothing of any target.',
    );
    this.#isReloaded = metrics.gauge(
      'shm_exporter_config_last_reload_successful',
      '1 when the last start or reload took its configuration, 0 when a reload refused it.',
    );
    this.#reloadedAt = metrics.gauge(
      'shm_exporter_config_last_reload_success_timestamp_seconds',
      'When a configuration was last taken, as a Unix timestamp.',
    );
    this.#hash = metrics.gauge(
      'shm_exporter_config_hash',
      'Hash of the settings, targets and scopes in use, to compare instances by.',
    );
  }

  /** The same for people, as it was said last. */
  get facts(): ServiceFacts {
    return this.#facts;
  }

  license({ state, expirySeconds, warning }: LicenseStatus): void {
    const mood = MOODS[state];
    const license = { state, mood, expiresMs: expirySeconds * 1000, warning };
    this.#facts = { ...this.#facts, license };
    this.#expiry(expirySeconds);
    for (const each of LICENSE_STATES) this.#licenseState(Number(each === state), { state: each });
  }

  /** @param count of the scopes that can select nothing of any target */
  unmatchedScopes(count: number): void {
    this.#scopes(count);
  }

  /** @param unixMs when the configuration was taken */
  configTaken(hash: number, unixMs: number): void {
    this.#facts = { ...this.#facts, configuration: { takenMs: unixMs, refusedMs: undefined } };
    this.#isReloaded(1);
    this.#reloadedAt(unixMs / 1000);
    this.#hash(hash);
  }

  /** @param refusedMs when it was refused, in Unix milliseconds */
  configRefused(refusedMs: number): void {
    const configuration = { ...this.#facts.configuration, refusedMs };
    this.#facts = { ...this.#facts, configuration };
    this.#isReloaded(0);
  }
}

/** Makes a function that sets the metrics after each attempt to read the web configuration. */
export function webConfigMetrics(
  metrics: Pick<SelfMetrics, 'gauge'>,
): (news: WebConfigReload) => void {
  const isRead = metrics.gauge(
    'shm_exporter_web_config_last_reload_successful',
    '1 when the web configuration and its files are in use as they are now, 0 when they were refused.',
  );
  let expiry: ((value: number) => void) | undefined;
  return ({ isInUse, current: { tls } }) => {
    isRead(Number(isInUse));
    // Made with the first certificate only: a gauge without labels starts at 0.
    if (tls === null) return;
    expiry ??= metrics.gauge(
      'shm_exporter_certificate_expiry_timestamp_seconds',
      'When the first of the certificates of the server in use expires, as a Unix timestamp.',
    );
    expiry(tls.expiryMs / 1000);
  };
}

/** malloc maps larger blocks, in bytes, one by one, and unmaps them when they are freed. This is its initial default. */
const LARGE_BLOCK = 131_072;
/** A process is idle if its memory has grown by no more than this factor since the last check. */
const GROWTH = 1.1;
/** Free pages are searched for only if the process has grown by so many bytes since the last search. */
const WORTH_RETURNING = 4_000_000;
const CHECK_MS = 10_000;

/**
 * Returns free memory from now on, as long as the process runs.
 * @param residentBytes returns the resident set size; throws if it cannot be read, such as without /proc or a
 *   free descriptor
 */
export function returnFreeMemory(residentBytes: () => number): void {
  // By default, malloc raises this threshold and so keeps 4 MB more than is used.
  returnFreed(LARGE_BLOCK);
  setInterval(freePages(residentBytes), CHECK_MS).unref();
}

/** Makes a function that returns free pages if the process has grown and is idle now. */
export function freePages(
  residentBytes: () => number,
  give: () => unknown = returnFreePages,
): () => void {
  let [last, afterwards] = [0, 0];
  return () => {
    const bytes = valueOf(residentBytes);
    if (bytes === undefined) return;
    const isIdle = bytes <= last * GROWTH;
    last = bytes;
    if (!isIdle || bytes < afterwards + WORTH_RETURNING) return;
    give();
    afterwards = valueOf(residentBytes) ?? bytes;
  };
}

/** The result of a call; undefined if it throws. */
function valueOf<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

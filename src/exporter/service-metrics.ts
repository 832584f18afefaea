// Sets metrics about build, license and configuration of the process, and returns its free memory to the system.
import { setInterval } from 'node:timers';
import { once } from '../exposition/memoize.js';
import { LICENSE_STATES } from '../license/license.js';
import type { LicenseStatus, LicenseState } from '../license/license.js';
import { returnFreePages, returnFreed } from '../native/os/libc.js';
import type { Discovered } from './discovery.js';
import type { LicenseInfo, ProcessInfo } from '../sinks/http/pages/status-page.js';
import type { SelfMetrics } from '../sinks/self-metrics.js';
import type { WebConfigReload } from '../web-config/watched-web-config.js';

export interface Build {
  readonly version: string;
  /** The commit in hexadecimal digits; empty if unknown. */
  readonly revision: string;
  /** The version of Node.js. */
  readonly node: string;
}

const SEVERITIES = {
  valid: 'good',
  grace: 'warn',
  expired: 'bad',
  early: 'bad',
  invalid: 'bad',
} as const satisfies Record<LicenseState, LicenseInfo['severity']>;

/**
 * Makes the functions that set the metrics of the process. The names of the metrics are like those of Prometheus's own
 * metrics, so that one alert rule fits both.
 * @param startedMs when the process began, in Unix milliseconds
 */
export function serviceMetrics(
  metrics: Pick<SelfMetrics, 'gauge'>,
  { version, revision, node }: Build,
  startedMs: number,
) {
  const build = metrics.gauge(
    'shm_exporter_build_info',
    'Version and commit of the exporter, and version of Node; always 1.',
    ['version', 'revision', 'nodeversion'],
  );
  const expiry = metrics.gauge(
    'shm_exporter_license_expiry_timestamp_seconds',
    'Expiry time of the license, as a Unix timestamp, without the grace period.',
  );
  const licenseState = metrics.gauge(
    'shm_exporter_license_state',
    'State of the license, one series per state; the exporter starts only with valid or grace.',
    ['state'],
  );
  const unmatchedScopes = metrics.gauge(
    'shm_exporter_scopes_unmatched',
    'Metric scopes that can select no metric of any target.',
  );
  const isReloaded = metrics.gauge(
    'shm_exporter_config_last_reload_successful',
    '1 if the last start or reload accepted the configuration, 0 if a reload refused it.',
  );
  const reloadedAt = metrics.gauge(
    'shm_exporter_config_last_reload_success_timestamp_seconds',
    'When a configuration was last accepted, as a Unix timestamp.',
  );
  const configuration = metrics.gauge(
    'shm_exporter_config_hash',
    'Hash of the settings, targets and scopes in use, for comparing instances.',
  );
  const discovery = once(() => ({
    targets: metrics.gauge('shm_exporter_discovered_targets', 'Targets that [discover] has found.'),
    leftOut: metrics.gauge(
      'shm_exporter_discovery_left_out',
      'Publishers that [discover] left out: too many, unreadable, or with an invalid application.',
    ),
  }));
  const faultyFile = once(() =>
    metrics.gauge(
      'shm_exporter_target_file_faulty',
      '1 for each file of targets.d that is left out because of a fault.',
      ['file'],
    ),
  );
  let faultyFiles: readonly string[] = [];
  build(1, { version, revision, nodeversion: node });
  let info: ProcessInfo = {
    ...{ version, revision, node, startedMs, license: undefined },
    configuration: { acceptedMs: startedMs, refusedMs: undefined },
  };
  return {
    /** The data behind the metrics, for the status page. */
    processInfo: () => info,
    license({ state, expirySeconds, warning }: LicenseStatus): void {
      const severity = SEVERITIES[state];
      info = { ...info, license: { state, severity, expiresMs: expirySeconds * 1000, warning } };
      expiry(expirySeconds);
      for (const each of LICENSE_STATES) licenseState(Number(each === state), { state: each });
    },
    unmatchedScopes,
    discovered({ targets, leftOut }: Discovered): void {
      discovery().targets(targets.length);
      discovery().leftOut(leftOut.length);
    },
    /** Records which files of `targets.d` the configuration in use leaves out. */
    faultyTargetFiles(files: readonly string[]): void {
      for (const file of faultyFiles) faultyFile()(undefined, { file });
      for (const file of files) faultyFile()(1, { file });
      faultyFiles = files;
    },
    /** Records that the exporter has used a configuration since `acceptedMs`. */
    configAccepted(hash: number, acceptedMs: number): void {
      info = { ...info, configuration: { acceptedMs, refusedMs: undefined } };
      isReloaded(1);
      reloadedAt(acceptedMs / 1000);
      configuration(hash);
    },
    /** Records that the exporter refused a reload. @param refusedMs Unix time of the refusal in milliseconds */
    configRefused(refusedMs: number): void {
      info = { ...info, configuration: { ...info.configuration, refusedMs } };
      isReloaded(0);
    },
  };
}

/** Makes a function that sets the metrics after each attempt to read the web configuration. */
export function webConfigMetrics(
  metrics: Pick<SelfMetrics, 'gauge'>,
): (news: WebConfigReload) => void {
  const isRead = metrics.gauge(
    'shm_exporter_web_config_last_reload_successful',
    '1 if the current web configuration and its files are in use, 0 if the exporter refused them.',
  );
  let expiry: ((value: number) => void) | undefined;
  return ({ isInUse, current: { tls } }) => {
    isRead(Number(isInUse));
    // Register the gauge only once there is a certificate: a gauge without labels starts at 0.
    if (tls === null) return;
    expiry ??= metrics.gauge(
      'shm_exporter_certificate_expiry_timestamp_seconds',
      'Earliest expiry time of the server certificates in use, as a Unix timestamp.',
    );
    expiry(tls.expiryMs / 1000);
  };
}

/**
 * malloc uses mmap for blocks of at least this many bytes, and free returns them with munmap. It is the default of
 * M_MMAP_THRESHOLD.
 */
const LARGE_BLOCK = 131_072;
/** A process is idle if its memory has grown by no more than this factor since the last check. */
const GROWTH = 1.1;
/** The growth in bytes after which the process returns free pages to the system again. */
const MIN_GROWTH = 4_000_000;
const CHECK_MS = 10_000;

/**
 * Starts to return free memory to the system, periodically until the process ends.
 * @param residentBytes returns the resident set size; throws if it cannot be read, for example if /proc is missing or
 *   no descriptor is free
 */
export function returnFreeMemory(residentBytes: () => number): void {
  // By default, malloc raises this threshold, and then keeps 4 MB more than the process uses.
  returnFreed(LARGE_BLOCK);
  setInterval(freePages(residentBytes), CHECK_MS).unref();
}

/** Makes a function that gives free pages back to the system if the process has grown and is idle. */
export function freePages(
  residentBytes: () => number,
  release: () => unknown = returnFreePages,
): () => void {
  let [last, afterwards] = [0, 0];
  return () => {
    const bytes = attempt(residentBytes);
    if (bytes === undefined) return;
    const isIdle = bytes <= last * GROWTH;
    last = bytes;
    if (!isIdle || bytes < afterwards + MIN_GROWTH) return;
    release();
    afterwards = attempt(residentBytes) ?? bytes;
  };
}

function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

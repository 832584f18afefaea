// The table of top-level keys of the configuration file (spec 2.1).
import { isDeepStrictEqual } from 'node:util';
import { LOG_FORMATS } from '../logs/log.js';
import { METRIC_LEVELS } from '../model.js';
import {
  LICENSE_KEYS_DIR,
  application,
  ipv4,
  line,
  listenAddress,
  logLevel,
  name,
  names,
  timeZone,
  urlPath,
  words,
} from '../rules/formats.js';
import { flag, integer, list, oneOf } from '../rules/rule.js';
import type { Rule } from '../rules/rule.js';
import { anyTable, keyOf, optional } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

/** A table with any keys, deeply frozen. */
export const formatSettings: Rule<Readonly<Record<string, unknown>>> = {
  ...anyTable,
  read(raw, path, report) {
    const table = anyTable.read(raw, path, report);
    freeze(table);
    return table;
  },
};

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freeze(each);
}

/** The longest delay of a timer of Node.js. */
const MAX_TIMER_MS = 2_147_483_647;

/** The rules of paths, which `resolvePaths` makes absolute. */
const path: Rule<string> = { ...line };
const paths: Rule<readonly string[]> = { ...words };

/** A setting that a reload applies. */
const reloaded = <T>(fallback: NoInfer<T>, rule: Rule<T>, meaning: string) => ({
  ...optional(fallback, rule, meaning),
  isReloaded: true as const,
});

/** A setting that a reload applies, and that is also a key of `[[targets]]`. */
const ofTarget = <T>(fallback: NoInfer<T>, rule: Rule<T>, meaning: string) => ({
  ...reloaded(fallback, rule, meaning),
  isOfTarget: true as const,
});

/** The top-level keys. A change of a key made by `optional` needs a restart. */
export const SETTINGS = {
  contextId: optional('shmApp', name, 'Context id of the shared-memory pool'),
  poolName: optional('pool', name, 'Name of the shared-memory pool'),
  stalledAfterSeconds: optional(
    60,
    integer(0, 31_536_000),
    'Seconds for which the exporter serves the last values of a stalled publisher. Then the targets of this publisher answer 503; a target with `format = "workers"` leaves out the gauges and texts of this worker. 0 serves the values forever',
  ),
  trustedOwners: optional(
    [],
    list(integer(0, 2 ** 32 - 2), { max: 1024, different: { by: String } }),
    'User ids. With this list, the exporter reads only segments of the listed users, of root and of its own user, and refuses world-writable segments. An empty list allows all segments',
  ),
  segmentMaxItems: optional(
    2_097_152,
    integer(1, 2_097_152),
    'Maximum number of objects and variables of a segment, together. A larger segment is not served',
  ),
  app: reloaded(
    'ads',
    application,
    'Application of the single target, if the file has no [[targets]]: ads, adh, ats, jvm, an application from catalogue_files, or any other',
  ),
  format: ofTarget('native', name, 'Format of the publisher, by its name in docs/formats.md'),
  formatSettings: ofTarget({}, formatSettings, 'Settings of the format of the single target'),
  instance: ofTarget(
    '',
    line,
    'Hint for the choice of the root: a full root id, or the instance number of the root. An empty hint accepts any root of the application',
  ),
  variable: ofTarget('', line, 'Path of a variable to highlight'),
  classes: ofTarget(
    [],
    words,
    'Classes to track, by alias in the catalogue. An empty list tracks all',
  ),
  seedPathGroups: ofTarget([], words, 'Groups of seed paths to track, by name in the catalogue'),
  seedPaths: ofTarget(
    [],
    words,
    'Seed paths to track, with the objects below them. @root selects the variables of the root itself',
  ),
  showUncatalogued: ofTarget(
    false,
    flag,
    'Also shows variables that no catalogue row reads, as their publisher describes them. Their string values may be personal data',
  ),
  pathLabels: ofTarget(
    [],
    words,
    'Patterns of seed paths such as "floor.{floor}.{till}", which give labels to metrics without a catalogue row. The first match applies',
  ),
  publisherTimeZone: ofTarget(
    '',
    timeZone,
    'Time zone of times that the publisher writes as text without an offset. The default is the zone of the exporter',
  ),
  serverKeys: reloaded(
    ['82', '456', '999'],
    names,
    'Server keys of the single target. The exporter searches all of them for its root',
  ),
  metricsIntervalSeconds: optional(
    10,
    integer(1, Math.floor(MAX_TIMER_MS / 1000)),
    'Seconds between stdout snapshots',
  ),
  renderMinIntervalMs: reloaded(
    250,
    integer(0, MAX_TIMER_MS),
    'Minimum milliseconds between two renders of one target. 0 renders at every update',
  ),
  targetMaxObjects: reloaded(
    1_000_000,
    integer(1, 1_000_000),
    'Maximum number of objects that one target tracks. The exporter omits and counts further objects, and logs the first of them',
  ),
  targetMaxVariables: reloaded(
    2_000_000,
    integer(1, 2_000_000),
    'Maximum number of variables that one target tracks',
  ),
  targetMaxSeries: reloaded(
    2_000_000,
    integer(1, 2_000_000),
    'Maximum number of series that one target shows',
  ),
  targetMaxTextBytes: reloaded(
    2 ** 29,
    integer(1024, 2 ** 29),
    'Maximum bytes of names and labels that one target shows, and of strings, histograms and summaries that it reads',
  ),
  targetWorkers: optional(
    0,
    integer(0, 64),
    'Number of worker partitions. 0 means one for each target, but at most 64 partitions, and in threaded mode at most one for each core',
  ),
  workerExecutionMode: optional(
    'logical',
    oneOf('logical', 'threaded'),
    'Whether all partitions share one thread or each has its own; see docs/performance.md',
  ),
  workerAssignmentMode: optional(
    'hash',
    oneOf('hash', 'least_loaded'),
    'How targets are spread over partitions: by a stable hash, or by the smallest estimated load',
  ),
  workerRebalanceEnabled: optional(
    false,
    flag,
    'Moves targets between partitions from time to time to balance the load of the partitions',
  ),
  debug: optional(false, flag, 'Logs in detail, as log_level = "debug" does'),
  logLevel: optional('info', logLevel, 'Lowest level that is logged'),
  logFormat: optional('text', oneOf(...LOG_FORMATS), 'Format of log lines'),
  metricsHttpEnabled: optional(
    false,
    flag,
    'Serves metrics over HTTP instead of printing them to stdout',
  ),
  metricsBindAddress: optional('0.0.0.0', ipv4, 'Address of the HTTP listener'),
  metricsPort: optional(
    9464,
    integer(0, 65_535),
    'Port of the HTTP listener. 0 takes any free port',
  ),
  metricsListenAddresses: optional(
    [],
    list(listenAddress, { max: 16, different: { by: String } }),
    'Addresses of the HTTP listener, instead of metrics_bind_address and metrics_port. ":9464" means every address of the host',
  ),
  metricsSystemdSocket: optional(
    false,
    flag,
    'Listens on the sockets that systemd passes (LISTEN_FDS), instead of the configured addresses',
  ),
  internalMetrics: optional(
    'full',
    oneOf(...METRIC_LEVELS),
    'Metrics about the exporter and its targets: all, or the basic ones, which are at most 6 series for each target and 20 for the process',
  ),
  pagesWithoutInternalMetrics: optional(
    false,
    flag,
    'Leaves the internal metrics off the pages of targets. /-/metrics still has them',
  ),
  openmetricsCreatedLines: optional(
    false,
    flag,
    'Adds `_created` lines, which state start times, to OpenMetrics pages. Prometheus stores them as series unless its feature `created-timestamp-zero-ingestion` is on',
  ),
  webConfigFile: optional(
    '',
    path,
    "File for TLS, client certificates, passwords and headers, in the format of Prometheus's exporters",
  ),
  metricsPath: optional('/metrics', urlPath, 'Base path of scrapes'),
  httpResponseTimeoutSeconds: optional(
    120,
    integer(1, Math.floor(MAX_TIMER_MS / 1000)),
    'Maximum seconds from an HTTP request to the last byte of its response',
  ),
  httpHeaderTimeoutSeconds: optional(
    10,
    integer(1, 3600),
    'Seconds that a client may take to send an HTTP request',
  ),
  httpMaxHeaderBytes: optional(
    16_384,
    integer(1024, 1_048_576),
    'Maximum bytes of the head of an HTTP request. A larger request gets 431',
  ),
  httpMaxConnections: optional(
    512,
    integer(1, 65_535),
    'Maximum number of open HTTP connections. Beyond it, a new connection replaces the one that has been idle for the longest time',
  ),
  httpMaxScrapes: optional(
    64,
    integer(1, 65_535),
    'Maximum number of concurrent scrapes. Further scrapes wait up to a second, then get 503',
  ),
  httpReloadEnabled: optional(
    false,
    flag,
    'Reloads the configuration on POST /-/reload, as SIGHUP does',
  ),
  httpTreeEnabled: optional(
    true,
    flag,
    'Shows all objects and variables of a target at /tree. Only local clients, and clients with a password or certificate, see string values that no catalogue row reads',
  ),
  licenseFile: optional('', path, 'License file, required for a normal start'),
  licenseKeysDir: optional(
    LICENSE_KEYS_DIR,
    path,
    'Folder of your own public keys for licenses. The folder may be missing; an empty string uses only the built-in keys',
  ),
  catalogueFiles: reloaded([], paths, 'Catalogues of further applications'),
  stdoutFormat: optional(
    'text',
    oneOf('text', 'json', 'merged'),
    'Format of stdout snapshots: Prometheus text of each target, one JSON object per series, or one Prometheus text for all targets',
  ),
  textfileDir: optional(
    '',
    path,
    'Writes all metrics to shm_exporter.prom in this folder instead of stdout, for the textfile collector of node_exporter',
  ),
};

export type Settings = ValuesOf<typeof SETTINGS>;

type NamesWith<P> = {
  [K in keyof Settings]: (typeof SETTINGS)[K] extends P ? K : never;
}[keyof Settings];

export const isReloaded = (name: string): boolean =>
  Object.hasOwn(SETTINGS[name as keyof Settings], 'isReloaded');

/** The TOML keys of changed settings that need a restart, in the order of the reference page. */
export const changedSettings = (before: Settings, after: Settings): readonly string[] =>
  (Object.keys(SETTINGS) as (keyof Settings)[])
    .filter((name) => !isReloaded(name) && !isDeepStrictEqual(before[name], after[name]))
    .map(keyOf);

/** The settings of a target: all that a reload applies, except the files of catalogues. */
export type TargetSettings = Pick<
  Settings,
  Exclude<NamesWith<{ isReloaded: true }>, 'catalogueFiles'>
>;

export const targetSettings = (settings: Settings): TargetSettings =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) => isReloaded(name) && name !== 'catalogueFiles'),
  ) as TargetSettings;

export const OF_TARGET = Object.fromEntries(
  Object.entries(SETTINGS).filter(([, field]) => 'isOfTarget' in field),
) as Pick<typeof SETTINGS, NamesWith<{ isOfTarget: true }>>;

/** Makes the paths in settings absolute. Empty texts stay empty. */
export const resolvePaths = <S extends Partial<Settings>>(
  settings: S,
  resolvePath: (path: string) => string,
): S =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const { rule } = SETTINGS[name as keyof Settings];
      if (rule === path && value !== '') return [name, resolvePath(value as string)];
      if (rule === paths)
        return [name, Object.freeze((value as readonly string[]).map((each) => resolvePath(each)))];
      return [name, value];
    }),
  ) as S;

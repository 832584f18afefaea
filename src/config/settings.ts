// The table of top-level keys of the configuration file (spec 2.1).
import { LOG_FORMATS } from '../logs/log.js';
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
import { anyTable, optional } from '../rules/table.js';
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

export const SETTINGS = {
  contextId: optional('context_id', 'shmApp', name, 'Context id of the shared-memory pool'),
  poolName: optional('pool_name', 'pool', name, 'Name of the shared-memory pool'),
  stalledAfterSeconds: optional(
    'stalled_after_seconds',
    60,
    integer(0, 31_536_000),
    'Seconds for which the last values of a stalled publisher are served; then its targets answer 503 until its heartbeat resumes. 0 serves them forever',
  ),
  trustedOwners: optional(
    'trusted_owners',
    [],
    list(integer(0, 2 ** 32 - 2), { max: 1024, different: { by: String } }),
    'Ids of the users whose segments are read, beside root and the user of the exporter; segments that everybody may write are refused as well. Empty reads all',
  ),
  segmentMaxItems: optional(
    'segment_max_items',
    2_097_152,
    integer(1, 2_097_152),
    'Most objects and variables that one segment may hold; a larger one is not served, since its whole tree is kept in memory',
  ),
  app: optional(
    'app',
    'ads',
    application,
    'Application metric set of the single target: ads, adh, ats, jvm or one of catalogue_files',
  ),
  format: optional(
    'format',
    'native',
    name,
    'Format in which the metrics are published: native is the segment format of this project, hsperfdata the counter files of JVMs, varnish the shared memory of Varnish',
  ),
  formatSettings: optional(
    'format_settings',
    {},
    formatSettings,
    'Settings that the format of the single target has of its own',
  ),
  instance: optional(
    'instance',
    '',
    line,
    'Hint for the choice of the root: a full root id, or its instance number; empty takes the root that fits the application',
  ),
  variable: optional('variable', '', line, 'Path of a variable to highlight'),
  classes: optional(
    'classes',
    [],
    words,
    'Class aliases of the application to track; empty tracks all',
  ),
  seedPathGroups: optional(
    'seed_path_groups',
    [],
    words,
    'Named groups of seed paths of the application to track',
  ),
  seedPaths: optional(
    'seed_paths',
    [],
    words,
    'Seed paths to track, with everything below them; @root stands for the variables of the root itself',
  ),
  showUncatalogued: optional(
    'show_uncatalogued',
    false,
    flag,
    'Shows variables that no row of the catalogue reads as well, as metrics that their publisher describes; their texts may be personal data',
  ),
  pathLabels: optional(
    'path_labels',
    [],
    words,
    'Labels of metrics without a catalogue row, from the paths of their objects: patterns of seed paths such as "floor.{floor}.{till}"; the first one that matches applies; empty adds none',
  ),
  publisherTimeZone: optional(
    'publisher_time_zone',
    '',
    timeZone,
    'Time zone of times that the publisher writes as text without an offset, such as "Europe/London"; empty takes the zone of the exporter',
  ),
  serverKeys: optional(
    'server_keys',
    ['82', '456', '999'],
    names,
    'Server keys of the single target; all are searched for its root',
  ),
  metricsIntervalSeconds: optional(
    'metrics_interval_seconds',
    10,
    integer(1, Math.floor(MAX_TIMER_MS / 1000)),
    'Seconds between stdout snapshots',
  ),
  renderMinIntervalMs: optional(
    'render_min_interval_ms',
    250,
    integer(0, MAX_TIMER_MS),
    'Minimum time between two renders of one target; 0 renders at every update',
  ),
  targetMaxObjects: optional(
    'target_max_objects',
    1_000_000,
    integer(1, 1_000_000),
    'Most objects that one target tracks; further ones are left out with everything below them, counted, and the first is named in the log',
  ),
  targetMaxVariables: optional(
    'target_max_variables',
    2_000_000,
    integer(1, 2_000_000),
    'Most variables that one target tracks; further ones are left out, counted, and the first is named in the log',
  ),
  targetMaxSeries: optional(
    'target_max_series',
    2_000_000,
    integer(1, 2_000_000),
    'Most series that one target shows; further ones are left out, counted, and the first is named in the log',
  ),
  targetMaxTextBytes: optional(
    'target_max_text_bytes',
    2 ** 29,
    integer(1024, 2 ** 29),
    'Most bytes of names and labels that one target shows, and of texts, histograms and summaries that it reads; what comes after is left out as above',
  ),
  targetWorkers: optional(
    'target_workers',
    0,
    integer(0, 64),
    'Number of worker partitions; 0 takes one for each target, at most 64, and with threads at most one for each processor core',
  ),
  workerExecutionMode: optional(
    'worker_execution_mode',
    'logical',
    oneOf('logical', 'threaded'),
    'Whether partitions are queues in one thread or threads of their own; docs/performance.md says when threads pay off',
  ),
  workerAssignmentMode: optional(
    'worker_assignment_mode',
    'hash',
    oneOf('hash', 'least_loaded'),
    'How a target finds its partition: a stable hash, or the smallest estimated load',
  ),
  workerRebalanceEnabled: optional(
    'worker_rebalance_enabled',
    false,
    flag,
    'Moves targets between partitions from time to time to balance their load',
  ),
  debug: optional(
    'debug',
    false,
    flag,
    'Logs syncs, updates and lookups in detail, as log_level = "debug" does',
  ),
  logLevel: optional('log_level', 'info', logLevel, 'Least level of the events that are logged'),
  logFormat: optional(
    'log_format',
    'text',
    oneOf(...LOG_FORMATS),
    'Form of log lines. To the journal of systemd, lines have priorities and no time',
  ),
  metricsHttpEnabled: optional(
    'metrics_http_enabled',
    false,
    flag,
    'Serves metrics over HTTP instead of printing them to stdout',
  ),
  metricsBindAddress: optional(
    'metrics_bind_address',
    '0.0.0.0',
    ipv4,
    'Address that the HTTP listener binds to',
  ),
  metricsPort: optional(
    'metrics_port',
    9464,
    integer(0, 65_535),
    'Port of the HTTP listener; 0 takes any free one',
  ),
  metricsListenAddresses: optional(
    'metrics_listen_addresses',
    [],
    list(listenAddress, { max: 16, different: { by: String } }),
    'Addresses that the HTTP listener binds to, in place of metrics_bind_address and metrics_port; ":9464" stands for all of the machine, IPv6 and IPv4',
  ),
  metricsSystemdSocket: optional(
    'metrics_systemd_socket',
    false,
    flag,
    'Listens on the sockets that systemd hands over (LISTEN_FDS), in place of any address',
  ),
  webConfigFile: optional(
    'web_config_file',
    '',
    line,
    "File for TLS, client certificates, passwords and headers, in the format of Prometheus's exporters; a relative path starts at the folder of the configuration file",
  ),
  metricsPath: optional('metrics_path', '/metrics', urlPath, 'Base path of scrapes'),
  httpResponseTimeoutSeconds: optional(
    'http_response_timeout_seconds',
    120,
    integer(1, Math.floor(MAX_TIMER_MS / 1000)),
    'Seconds that one HTTP answer may take, from its request to its last byte',
  ),
  httpHeaderTimeoutSeconds: optional(
    'http_header_timeout_seconds',
    10,
    integer(1, 3600),
    'Seconds that a client may take to send an HTTP request',
  ),
  httpMaxHeaderBytes: optional(
    'http_max_header_bytes',
    16_384,
    integer(1024, 1_048_576),
    'Maximum of bytes of the head of an HTTP request; a larger one gets a 431',
  ),
  httpMaxConnections: optional(
    'http_max_connections',
    512,
    integer(1, 65_535),
    'Maximum of open HTTP connections; above it, idle connections are closed, the longest idle first',
  ),
  httpMaxScrapes: optional(
    'http_max_scrapes',
    64,
    integer(1, 65_535),
    'Maximum of concurrent scrapes; further ones wait up to a second for one to end, then get a 503',
  ),
  httpReloadEnabled: optional(
    'http_reload_enabled',
    false,
    flag,
    'Reloads the configuration on POST /-/reload, as SIGHUP does',
  ),
  httpTreeEnabled: optional(
    'http_tree_enabled',
    true,
    flag,
    'Shows at /tree all objects and variables of a target, what no metric has included; texts that no row reads only to clients that give a password or certificate, or from this machine',
  ),
  licenseFile: optional(
    'license_file',
    '',
    line,
    'License file, required for a normal start; a relative path starts at the folder of the configuration file',
  ),
  licenseKeysDir: optional(
    'license_keys_dir',
    LICENSE_KEYS_DIR,
    line,
    'Folder of further public keys that licenses may be signed with, beside those of the package; it need not exist, and empty names none; a relative path starts at the folder of the configuration file',
  ),
  catalogueFiles: optional(
    'catalogue_files',
    [],
    words,
    'Catalogues of further applications; relative paths start at the folder of the configuration file',
  ),
  stdoutFormat: optional(
    'stdout_format',
    'text',
    oneOf('text', 'json', 'merged'),
    'Form of stdout snapshots: Prometheus text of each target, one JSON object per series, or the text of all targets in one, with labels that name them',
  ),
  textfileDir: optional(
    'textfile_dir',
    '',
    line,
    'Folder in which the merged text of all targets is kept as shm_exporter.prom, for the textfile collector of node_exporter, in place of stdout; a relative path starts at the folder of the configuration file',
  ),
};

export type Settings = ValuesOf<typeof SETTINGS>;

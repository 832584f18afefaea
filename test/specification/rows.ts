// The rows of the specification: every rule, table row, error and limit, with its number.
import type { Section } from './specification-file.js';

export const SECTIONS: readonly Section[] = [
  {
    title: '1. What the service does',
    rows: [
      [
        '1.1',
        'The service is a command-line process. At startup it builds its configuration from built-in defaults, then an optional TOML file given with `--config <path>`, then command-line options. A command-line value overrides the same value loaded from TOML.',
      ],
      [
        '1.2',
        'It validates a license file before it creates the shared-memory server pool. A valid `license_file` is required for normal startup. If validation fails, startup stops before any shared-memory discovery. An expired license is still accepted during a grace period of 36 hours after expiry.',
      ],
      ['1.3.1', 'Build one or more target definitions.'],
      ['1.3.2', 'Create the shared-memory server pool and add each configured server key to it.'],
      ['1.3.3', 'Create a target registry, and one metric builder and one probe per target.'],
      ['1.3.4', 'Start either the HTTP scrape server or the periodic stdout metrics printer.'],
      [
        '1.3.5',
        'For each server key, discover the visible roots and select the best matching root. The optional `instance` hint guides the choice. When `instance` is omitted, the root is resolved from the server key at runtime.',
      ],
      ['1.3.6', 'Bind the child objects and variables under the selected root recursively.'],
      ['1.3.7', 'Render Prometheus text once the tracked subtree is ready.'],
      [
        '1.4',
        'Output mode: When `metrics_http_enabled` is true, the HTTP listener serves metrics. Otherwise a snapshot is printed to stdout every `metrics_interval_seconds` seconds.',
      ],
      [
        '1.5 single-target',
        'Mode Single-target, selected when The TOML has no `[[targets]]` table, or a CLI option that selects a single target (`--server-key`, `--instance`) is used: Export one resolved root target, described by the top-level keys `app`, `instance`, `variable`, `server_keys`, `classes`, `seed_path_groups`, `seed_paths`',
      ],
      [
        '1.5 multi-target',
        'Mode Multi-target, selected when The TOML has one or more `[[targets]]` tables: Export several targets, and route each scrape to one target by query parameter',
      ],
      [
        '1.6',
        'CLI options that select a single target (`--instance`, `--server-key`) switch the process to single-target mode and clear any TOML `[[targets]]` entries.',
      ],
      [
        '1.7',
        '`--targets-config <path>` uses a legacy flat target file instead of TOML targets (see section 2.4).',
      ],
      [
        '1.8',
        'Filters (`classes`, `seed_path_groups`, `seed_paths`) on a target limit both the subscribed subtree and the metrics emitted for that target.',
      ],
      [
        '1.9',
        'Renders are demand-driven. The minimum spacing between renders for one target is `render_min_interval_ms`. Updates arriving inside that spacing are coalesced into one deferred render.',
      ],
      [
        '1.10',
        'Targets are distributed over logical worker partitions (see keys `target_workers`, `worker_execution_mode`, `worker_assignment_mode`, `worker_rebalance_enabled`).',
      ],
    ],
  },
  {
    title: '2.1 Top-level configuration (TOML keys)',
    rows: [
      [
        '2.1 context_id',
        'Key `context_id`, type string, default `shmApp`: Shared-memory pool context id',
      ],
      ['2.1 pool_name', 'Key `pool_name`, type string, default `pool`: Shared-memory pool name'],
      [
        '2.1 app',
        'Key `app`, type string, default `ads`: Application metric set for single-target mode. Built-in values: `ads`, `adh`, `ats`',
      ],
      [
        '2.1 instance',
        'Key `instance`, type string, default empty: Optional root-selection hint: a full root id, or the instance_no segment when roots are named `hostname.instance_no.application`',
      ],
      [
        '2.1 variable',
        'Key `variable`, type string, default empty: Optional descendant variable path to highlight',
      ],
      [
        '2.1 classes',
        'Key `classes`, type string array, default empty: Optional app-specific class aliases that limit subscription and metric output',
      ],
      [
        '2.1 seed_path_groups',
        'Key `seed_path_groups`, type string array, default empty: Optional app-specific named filter groups',
      ],
      [
        '2.1 seed_paths',
        'Key `seed_paths`, type string array, default empty: Optional raw seed-path prefixes. The reserved value `@root` targets variables directly on the selected root object',
      ],
      [
        '2.1 server_keys',
        'Key `server_keys`, type string array, default `["82","456","999"]`: Shared-memory server keys used in single-target mode',
      ],
      [
        '2.1 metrics_interval_seconds',
        'Key `metrics_interval_seconds`, type integer, default 10: Interval of stdout snapshots when HTTP mode is disabled',
      ],
      [
        '2.1 render_min_interval_ms',
        'Key `render_min_interval_ms`, type integer, default 250: Minimum spacing between demand renders for one target. 0 restores render-per-update behavior',
      ],
      [
        '2.1 target_workers',
        'Key `target_workers`, type integer, default 0: Number of logical worker partitions. 0 means automatic sizing from the configured target count',
      ],
      [
        '2.1 worker_execution_mode',
        'Key `worker_execution_mode`, type string, default `logical`: Allowed: `logical`, `threaded`',
      ],
      [
        '2.1 worker_assignment_mode',
        'Key `worker_assignment_mode`, type string, default `hash`: Allowed: `hash` (stable placement), `least_loaded` (assign new targets to the smallest estimated load)',
      ],
      [
        '2.1 worker_rebalance_enabled',
        'Key `worker_rebalance_enabled`, type boolean, default false: Enables low-frequency rebalancing of targets between workers',
      ],
      [
        '2.1 debug',
        'Key `debug`, type boolean, default false: Verbose sync, update and lookup diagnostics',
      ],
      [
        '2.1 metrics_http_enabled',
        'Key `metrics_http_enabled`, type boolean, default false: Enables the HTTP scrape listener',
      ],
      [
        '2.1 metrics_bind_address',
        'Key `metrics_bind_address`, type string (IPv4 address), default `0.0.0.0`: Listener bind address',
      ],
      ['2.1 metrics_port', 'Key `metrics_port`, type integer, default 9464: Listener port'],
      ['2.1 metrics_path', 'Key `metrics_path`, type string, default `/metrics`: Base scrape path'],
      [
        '2.1 license_file',
        'Key `license_file`, type string (path), default empty: Path to the customer license JSON file. Required for normal startup',
      ],
    ],
  },
  {
    title: '2.2 Target (`[[targets]]` table, repeatable)',
    rows: [
      ['2.2 app', 'Key `app`, required yes: Application metric set for the target'],
      ['2.2 server_key', 'Key `server_key`, required yes: Shared-memory server key (string)'],
      [
        '2.2 instance',
        'Key `instance`, required no: Root-selection hint; resolved at runtime from the selected root when omitted',
      ],
      ['2.2 variable', 'Key `variable`, required no: Descendant variable path to highlight'],
      ['2.2 classes', 'Key `classes`, required no: Target-level class filters'],
      ['2.2 seed_path_groups', 'Key `seed_path_groups`, required no: Target-level filter groups'],
      ['2.2 seed_paths', 'Key `seed_paths`, required no: Target-level raw seed-path prefixes'],
      ['2.2', 'Metric names carry the application name as a prefix.'],
    ],
  },
  {
    title: '2.3 Metric scope (`[[metric_scopes]]` table, repeatable)',
    rows: [
      [
        '2.3',
        'A scope is a named subset of the rendered metrics. Each scope is addressable through the HTTP interface.',
      ],
      ['2.3 name', 'Key `name`, required yes: Only letters, digits, `.`, `_`, `-` are allowed'],
      ['2.3 metrics', 'Key `metrics`, required yes: List of metric-name patterns'],
      ['2.3.1', 'An exact metric name matches that metric.'],
      ['2.3.2', 'A trailing `*` is a prefix match.'],
      [
        '2.3.3',
        'A `*` anywhere in the pattern is a wildcard match (for example a pattern with the form `<app>_*_num_clients`).',
      ],
      [
        '2.3.4',
        'For summary and histogram metrics, an exact name also matches the `_sum`, `_count` and `_bucket` series of that metric.',
      ],
      [
        '2.3 last paragraph',
        'Scoped output is filtered from the rendered output and cached per scope. The scope cache is reused while the underlying snapshot and the scope configuration are unchanged.',
      ],
    ],
  },
  {
    title: '2.4 Legacy flat target file',
    rows: [
      [
        '2.4',
        'A text file given with `--targets-config <path>`. Each line has the form `target app=<app> server_key=<server_key>`. It is meant for minimal target-only setups.',
      ],
    ],
  },
  {
    title: '2.5 Internal metrics',
    rows: [
      ['2.5', 'Every rendered target carries these metrics next to the application metrics.'],
      [
        '2.5 shm_exporter_internal_target_ready',
        'Metric `shm_exporter_internal_target_ready`, type gauge: 1 when the target serves scrapes, 0 when it answers 503',
      ],
      [
        '2.5 shm_exporter_internal_target_initial_sync_complete',
        'Metric `shm_exporter_internal_target_initial_sync_complete`, type gauge: 1 after the tracked subtree finished its initial full sync',
      ],
      [
        '2.5 shm_exporter_internal_target_pending_sync_items',
        'Metric `shm_exporter_internal_target_pending_sync_items`, type gauge: Objects and variables not yet synced for the first time',
      ],
      [
        '2.5 shm_exporter_internal_scrape_render_cache_hits_total',
        'Metric `shm_exporter_internal_scrape_render_cache_hits_total`, type counter: Scrapes served from the rendered-output cache',
      ],
      [
        '2.5 shm_exporter_internal_scrape_render_cache_misses_total',
        'Metric `shm_exporter_internal_scrape_render_cache_misses_total`, type counter: Scrapes that needed refreshed rendered output',
      ],
      [
        '2.5 shm_exporter_internal_scrape_scope_cache_hits_total',
        'Metric `shm_exporter_internal_scrape_scope_cache_hits_total`, type counter: Scoped scrapes served from the scope cache',
      ],
      [
        '2.5 shm_exporter_internal_scrape_scope_cache_misses_total',
        'Metric `shm_exporter_internal_scrape_scope_cache_misses_total`, type counter: Scoped scrapes that needed rebuilding of scoped output',
      ],
      [
        '2.5 shm_exporter_worker_busy_idle_ratio',
        'Metric `shm_exporter_worker_busy_idle_ratio`, type gauge: Ratio of worker busy refresh time to idle queue-wait time',
      ],
      [
        '2.5 shm_exporter_worker_dequeue_latency_avg_ms',
        'Metric `shm_exporter_worker_dequeue_latency_avg_ms`, type gauge: Average worker queue wait',
      ],
      [
        '2.5 shm_exporter_worker_dequeue_latency_p50_ms',
        'Metric `shm_exporter_worker_dequeue_latency_p50_ms`, type gauge: Median sampled queue wait',
      ],
      [
        '2.5 shm_exporter_worker_dequeue_latency_p95_ms',
        'Metric `shm_exporter_worker_dequeue_latency_p95_ms`, type gauge: 95th percentile sampled queue wait',
      ],
      [
        '2.5 shm_exporter_worker_dequeue_latency_p99_ms',
        'Metric `shm_exporter_worker_dequeue_latency_p99_ms`, type gauge: 99th percentile sampled queue wait',
      ],
      [
        '2.5 shm_exporter_worker_rebalance_total',
        'Metric `shm_exporter_worker_rebalance_total`, type counter: Target moves done by runtime rebalancing',
      ],
      [
        '2.5 shm_exporter_worker_rebalance_last_duration_ms',
        'Metric `shm_exporter_worker_rebalance_last_duration_ms`, type gauge: Duration of the most recent rebalance pass',
      ],
      [
        '2.5 shm_exporter_target_refresh_total',
        'Metric `shm_exporter_target_refresh_total`, type counter: Refresh cycles executed for the target',
      ],
      [
        '2.5 shm_exporter_target_refresh_duration_p50_ms',
        'Metric `shm_exporter_target_refresh_duration_p50_ms`, type gauge: Median sampled refresh duration',
      ],
      [
        '2.5 shm_exporter_target_refresh_duration_p95_ms',
        'Metric `shm_exporter_target_refresh_duration_p95_ms`, type gauge: 95th percentile sampled refresh duration',
      ],
      [
        '2.5 shm_exporter_target_refresh_duration_p99_ms',
        'Metric `shm_exporter_target_refresh_duration_p99_ms`, type gauge: 99th percentile sampled refresh duration',
      ],
    ],
  },
  {
    title: '3. States and transitions',
    rows: [
      [
        '3.1',
        'State not ready (initial), trigger HTTP scrape, condition initial sync not complete, next state not ready: response is 503 with a readiness message; `..._target_ready` is 0',
      ],
      [
        '3.2',
        'State not ready, trigger initial full sync of all tracked objects and variables completes, condition every tracked object and variable synced once, next state ready: `..._initial_sync_complete` becomes 1; `..._target_ready` becomes 1; scrapes return 200',
      ],
      [
        '3.3',
        'State ready, trigger new child objects or variables appear, condition after initial sync, next state ready (no return to startup readiness): the last rendered snapshot keeps being served; the new metrics are added once their paths sync',
      ],
    ],
  },
  {
    title: '4. Endpoints',
    rows: [
      [
        '4',
        'The HTTP listener exists only when `metrics_http_enabled` is true. It binds to `metrics_bind_address:metrics_port`. The base address is written {base_url}. In the paths below, `<metrics_path>` is the configured path, default `/metrics`.',
      ],
    ],
  },
  {
    title: '4.1 GET `<metrics_path>`',
    rows: [
      ['4.1', 'Returns the rendered Prometheus text of one target.'],
      [
        '4.1 server_key',
        'Parameter `server_key`, type string: Shared-memory server key of the target',
      ],
      [
        '4.1 app',
        'Parameter `app`, type string: Application of the target; used together with `instance`',
      ],
      [
        '4.1 instance',
        'Parameter `instance`, type string: Resolved root id of the target (shape `hostname.instance_no.application`); used together with `app`',
      ],
      ['4.1 scope', 'Parameter `scope`, type string: Name of a configured metric scope'],
    ],
  },
  {
    title: '4.2 GET `<metrics_path>/<scope>`',
    rows: [
      [
        '4.2',
        'Same as 4.1, limited to the metrics selected by the named scope. Equivalent to 4.1 with the `scope` parameter. The same routing parameters apply.',
      ],
    ],
  },
  {
    title: '4.3 Routing rules',
    rows: [
      [
        '4.3.1',
        'When exactly one target is configured, a request without routing parameters resolves that target.',
      ],
      [
        '4.3.2',
        'When several targets are configured, routing is required, for scoped requests as well.',
      ],
      ['4.3.3', '`server_key` alone selects a target; it is the least ambiguous method.'],
      ['4.3.4', '`app` together with `instance` selects a target by its resolved root identity.'],
      [
        '4.3.5',
        'When more than one target shares the same `app` and `instance`, `server_key` must be added.',
      ],
      ['4.3.6', 'If the target is not ready, the response is 503 (section 7).'],
      [
        '4.3',
        'Response body on 200: Prometheus exposition text of the target, including internal metrics (section 2.5).',
      ],
    ],
  },
  {
    title: '5. Authentication',
    rows: [
      [
        '5.1',
        'The process requires a license file (`license_file`) at startup; see section 1, rule 2. The grace period after expiry is 36 hours.',
      ],
    ],
  },
  {
    title: '7. Errors',
    rows: [
      ['7 200', 'Status 200, condition target ready: Prometheus text'],
      [
        '7 400',
        'Status 400, condition routing parameters missing or ambiguous: several targets configured without `server_key`; `app` without `instance` or the reverse when `server_key` is omitted; several targets sharing `app` and `instance` without `server_key`: text message',
      ],
      [
        '7 404',
        'Status 404, condition requested target not found, scope name not found, or the scope matches no rendered metrics: text message',
      ],
      [
        '7 503',
        'Status 503, condition target not ready (initial sync incomplete): message of the shape: scrape not ready: objects <synced>/<total> synced, variables <synced>/<total> synced, waiting on <reason>',
      ],
      [
        '7.1',
        'A scoped request in multi-target mode without enough routing information fails with the text: scope selected, but target routing still required when multiple targets are configured.',
      ],
      [
        '7.2',
        'Startup fails before shared-memory discovery when license validation fails; messages go to stderr.',
      ],
      [
        '7.3',
        'A target whose app mapping or filters select no metrics emits no application metrics.',
      ],
    ],
  },
  {
    title: '8. Limits',
    rows: [
      [
        '8 target_workers explicit value',
        'Limit `target_workers` explicit value, value 1 to 64: worker partition count',
      ],
      [
        '8 target_workers = 0',
        'Limit `target_workers` = 0, value automatic: derived from target count, minimum 1, cap 64: worker partition count',
      ],
      [
        '8 render_min_interval_ms',
        'Limit `render_min_interval_ms`, value default 250; 0 disables spacing: renders per target',
      ],
      [
        '8 metrics_interval_seconds',
        'Limit `metrics_interval_seconds`, value default 10: stdout snapshots, only when HTTP is disabled',
      ],
      [
        '8 license grace period',
        'Limit license grace period, value 36 hours after expiry: startup validation',
      ],
    ],
  },
  {
    title: '9. Versioning',
    rows: [['9.1', '`shm_exporter --version` prints the binary version.']],
  },
  {
    title: 'Command-line options',
    rows: [
      ['CLI --config', 'Option `--config <path>`: Load a TOML file'],
      ['CLI --app', 'Option `--app <app>`: Set the application metric set'],
      [
        'CLI --server-key',
        'Option `--server-key <key>`: Select a single target; clears TOML targets',
      ],
      [
        'CLI --instance',
        'Option `--instance <hint>`: Root hint; switches to single-target mode and clears TOML targets',
      ],
      ['CLI --enable-metrics-http', 'Option `--enable-metrics-http`: Enables the HTTP listener'],
      ['CLI --metrics-port', 'Option `--metrics-port <port>`: Overrides `metrics_port`'],
      [
        'CLI --debug',
        'Option `--debug`: Enables debug diagnostics even when `debug` is false in TOML',
      ],
      [
        'CLI --targets-config',
        'Option `--targets-config <path>`: Use the legacy flat target file instead of TOML targets',
      ],
      ['CLI --version', 'Option `--version`: Print the binary version'],
    ],
  },
];

const SENTENCES = new Map(SECTIONS.flatMap(({ rows }) => rows));

/**
 * Matches the cell to quote from a table row: the value of a limit, the condition of a status, otherwise
 * the last cell.
 */
const QUOTED_CELL =
  /^(?:Limit .+?, value (.+): .+|Status \d+, condition (.+?): .+|(?:Key|Metric|Mode|Option|Parameter|State) .+?: (.+))$/;

/** The maximum length of a quotation in a title, in characters. */
const MAX_QUOTE = 100;

/** Returns the beginning of a row, or of the cell to quote, without parentheses and Markdown. */
function quoteOf(sentence: string): string {
  const text = QUOTED_CELL.exec(sentence)?.slice(1).join('') ?? sentence;
  const [first = ''] = text.split(/(?<=\.) (?=[A-Z\d])/);
  const plain = first
    .replaceAll('`', '')
    .replaceAll(/ \([^)]*\)/g, '')
    .replace(/\.$/, '');
  return plain.length <= MAX_QUOTE
    ? plain
    : `${plain.slice(0, plain.lastIndexOf(' ', MAX_QUOTE))} …`;
}

/**
 * Cites rows in the title of their tests. It quotes the first row. It cites the others by name if they are in
 * the same section, otherwise by the number of their section.
 */
export function citationOf([number, ...more]: readonly [string, ...string[]]): string {
  const sentence = SENTENCES.get(number);
  const unknown = [number, ...more].find((each) => !SENTENCES.has(each));
  if (sentence === undefined || unknown !== undefined)
    throw new Error(`The specification has no row ${unknown ?? ''}`);
  const [section = ''] = number.split(' ');
  const others = new Set(
    more.map((each) => {
      const [first, ...name] = each.split(' ');
      return first === section ? name.join(' ') : first;
    }),
  );
  const also = others.size === 0 ? '' : `; also ${[...others].join(', ')}`;
  return `[spec ${number}: "${quoteOf(sentence)}"${also}]`;
}

// Metric names in the style that Prometheus recommends: base units, `_total`, and labels instead of name parts.
import { metricNamePart } from '../../catalogue/names.js';
import type { VariableKind } from '../../model.js';
import type { NamedPoint, Naming, Point } from './compat-names.js';

/** A row that renames values of Varnish. Counters also get the suffix `_total`. */
interface CleanRow {
  /** The class of the segment, or `storage` for all storage classes. */
  readonly group: string;
  /** Matches the names of the values. If several names match, labels distinguish the values. */
  readonly fields: RegExp;
  /** The metric name without the prefix `varnish_`, and without the suffixes of unit and type. */
  readonly name: string;
  readonly labels?: (field: string) => Readonly<Record<string, string>>;
  /** Replaces the help text of Varnish, which describes only one of the values. */
  readonly help?: string;
  readonly kind?: VariableKind;
}

/** A row that renames one value. */
const renamed = (group: string, field: string, name: string, more = {}): CleanRow => ({
  ...{ group, fields: new RegExp(`^${field}$`), name },
  ...more,
});

/** A row that merges values into one metric. The pattern's group `of` captures the label value. */
function merged(
  [group, name, label]: readonly [string, string, string],
  fields: RegExp,
  help: string,
): CleanRow {
  const labels = (field: string) => ({ [label]: fields.exec(field)?.groups?.['of'] ?? field });
  return { group, name, fields, help, labels };
}

const MERGED: readonly CleanRow[] = [
  merged(
    ['main', 'cache_lookups', 'result'],
    /^cache_(?<of>hit|miss)$/,
    'Lookups of objects in the cache, by result.',
  ),
  merged(
    ['main', 'client_bad_requests', 'status'],
    /^client_req_(?<of>4\d\d)$/,
    'Client requests that Varnish rejected before processing, by status of the response.',
  ),
  merged(
    ['main', 'session_accept_failures', 'reason'],
    /^sess_fail_(?<of>.+)$/,
    'Sessions that could not be accepted, by reason.',
  ),
  merged(
    ['main', 'sessions', 'type'],
    /^sess_(?<of>.+)$/,
    'Sessions, by type of outcome. One session may be counted under several types.',
  ),
  merged(
    ['main', 'session_closures', 'reason'],
    /^sc_(?<of>.+)$/,
    'Sessions that were closed, by reason.',
  ),
  merged(
    ['main', 'fetch_results', 'result'],
    /^fetch_(?<of>.+)$/,
    'Fetches from backends, by kind of body or kind of failure.',
  ),
  merged(
    ['main', 'backend_connection_events', 'event'],
    /^backend_(?<of>conn|unhealthy|busy|fail|reuse|recycle|retry)$/,
    'Connections to all backends, by event.',
  ),
  merged(
    ['main', 'workspace_overflows', 'workspace'],
    /^ws_(?<of>.+)_overflow$/,
    'Workspaces that were too small, by kind.',
  ),
  merged(
    ['mgt', 'child_exits', 'reason'],
    /^child_(?<of>exit|stop|died|dump|panic)$/,
    'Exits of the child process, by reason. One exit may be counted under several reasons.',
  ),
  merged(
    ['vbe', 'backend_connection_failures', 'reason'],
    /^fail_(?<of>.+)$/,
    'Connections to the backend that failed, by reason.',
  ),
];

const RENAMED: readonly CleanRow[] = [
  renamed('main', 'uptime', 'child_uptime', { kind: 'gauge' }),
  renamed('main', 'client_req', 'client_requests'),
  renamed('main', 'client_resp_500', 'client_failed_deliveries'),
  renamed('main', 'esi_req', 'esi_requests'),
  renamed('main', 'cache_hit_grace', 'cache_grace_hits'),
  renamed('main', 'cache_hitpass', 'cache_hits_for_pass'),
  renamed('main', 'cache_hitmiss', 'cache_hits_for_miss'),
  renamed('main', 'backend_req', 'backend_requests_sent'),
  renamed('main', 'pools', 'thread_pools'),
  renamed('main', 'threads', 'threads'),
  renamed('main', 'threads_created', 'threads_created'),
  renamed('main', 'threads_destroyed', 'threads_destroyed'),
  renamed('main', 'threads_failed', 'threads_failed'),
  renamed('main', 'threads_limited', 'threads_limited'),
  renamed('main', 'thread_queue_len', 'thread_queue_length'),
  renamed('main', 'req_dropped', 'requests_dropped'),
  renamed('main', 'n_object', 'objects'),
  renamed('main', 'n_objectcore', 'object_cores'),
  renamed('main', 'n_objecthead', 'object_heads'),
  renamed('main', 'n_vampireobject', 'vampire_objects'),
  renamed('main', 'n_backend', 'backends'),
  renamed('main', 'n_expired', 'objects_expired'),
  renamed('main', 'n_lru_nuked', 'objects_evicted'),
  renamed('main', 'n_lru_moved', 'objects_moved_in_lru'),
  renamed('main', 'n_lru_limited', 'lru_evictions_limited'),
  renamed('main', 'n_obj_purged', 'objects_purged'),
  renamed('main', 'n_purges', 'purges'),
  renamed('main', 'n_pipe', 'pipes'),
  renamed('main', 'n_vcl', 'vcls'),
  renamed('main', 'n_vcl_avail', 'vcls_available'),
  renamed('main', 'n_vcl_discard', 'vcls_discarded'),
  renamed('main', 'n_gzip', 'gzip_operations'),
  renamed('main', 'n_gunzip', 'gunzip_operations'),
  renamed('main', 'n_test_gunzip', 'gunzip_tests'),
  renamed('main', 'losthdr', 'http_header_overflows'),
  renamed('main', 's_sess', 'sessions_seen'),
  renamed('main', 's_pipe', 'pipe_sessions'),
  renamed('main', 's_pass', 'passes'),
  renamed('main', 's_fetch', 'fetches'),
  renamed('main', 's_bgfetch', 'background_fetches'),
  renamed('main', 's_synth', 'synthetic_responses'),
  renamed('main', 's_req_hdrbytes', 'client_request_header_bytes'),
  renamed('main', 's_req_bodybytes', 'client_request_body_bytes'),
  renamed('main', 's_resp_hdrbytes', 'client_response_header_bytes'),
  renamed('main', 's_resp_bodybytes', 'client_response_body_bytes'),
  renamed('main', 's_pipe_hdrbytes', 'pipe_request_header_bytes'),
  renamed('main', 's_pipe_in', 'pipe_received_bytes'),
  renamed('main', 's_pipe_out', 'pipe_sent_bytes'),
  renamed('mgt', 'uptime', 'manager_uptime', { kind: 'gauge' }),
  renamed('mgt', 'child_start', 'child_starts'),
  renamed('vbe', 'happy', 'backend_probe_bitmap'),
  renamed('vbe', 'req', 'backend_requests'),
  renamed('vbe', 'conn', 'backend_connections'),
  renamed('vbe', 'unhealthy', 'backend_fetches_refused_unhealthy'),
  renamed('vbe', 'busy', 'backend_fetches_refused_busy'),
  renamed('vbe', 'fail', 'backend_failed_connections'),
  renamed('vbe', 'helddown', 'backend_connections_held_down'),
  renamed('vbe', 'bereq_hdrbytes', 'backend_request_header_bytes'),
  renamed('vbe', 'bereq_bodybytes', 'backend_request_body_bytes'),
  renamed('vbe', 'beresp_hdrbytes', 'backend_response_header_bytes'),
  renamed('vbe', 'beresp_bodybytes', 'backend_response_body_bytes'),
  renamed('vbe', 'pipe_hdrbytes', 'backend_pipe_header_bytes'),
  renamed('vbe', 'pipe_out', 'backend_pipe_sent_bytes'),
  renamed('vbe', 'pipe_in', 'backend_pipe_received_bytes'),
  renamed('storage', 'c_req', 'storage_requests'),
  renamed('storage', 'c_fail', 'storage_failed_requests'),
  renamed('storage', 'c_bytes', 'storage_allocated_bytes'),
  renamed('storage', 'c_freed', 'storage_freed_bytes'),
  renamed('storage', 'g_alloc', 'storage_allocations'),
  renamed('storage', 'g_bytes', 'storage_used_bytes'),
  renamed('storage', 'g_space', 'storage_free_bytes'),
  renamed('lck', 'locks', 'lock_operations'),
  renamed('lck', 'creat', 'locks_created'),
  renamed('lck', 'destroy', 'locks_destroyed'),
  renamed('lck', 'colls', 'lock_collisions'),
  renamed('lck', 'dbg_busy', 'lock_contentions'),
  renamed('lck', 'dbg_try_fail', 'lock_failed_tries'),
  renamed('mempool', 'live', 'mempool_items_used'),
  renamed('mempool', 'pool', 'mempool_items_free'),
  renamed('mempool', 'sz_wanted', 'mempool_item_wanted_bytes'),
  renamed('mempool', 'sz_actual', 'mempool_item_bytes'),
  renamed('mempool', 'allocs', 'mempool_allocations'),
  renamed('mempool', 'timeout', 'mempool_items_timed_out'),
  renamed('mempool', 'toosmall', 'mempool_items_too_small'),
  renamed('mempool', 'surplus', 'mempool_items_surplus'),
  renamed('mempool', 'randry', 'mempool_ran_dry'),
];

/**
 * The first row that matches a value names it. If no row matches, the metric name is the class and the value's name.
 */
const CLEAN_TABLE: readonly CleanRow[] = [...RENAMED, ...MERGED];

/** The storage classes, which share metrics. */
const STORAGE: ReadonlySet<string> = new Set(['sma', 'smf', 'smu', 'umem', 'mse', 'mse4']);
/** For each class, the label that distinguishes its segments. */
const LABELS: Readonly<Record<string, string>> = {
  storage: 'storage',
  lck: 'lock',
  mempool: 'pool',
};
/** The classes with only one segment per process. */
const SINGLE: ReadonlySet<string> = new Set(['main', 'mgt']);

function cleanName({ ident, className, field }: Point): NamedPoint {
  const group = STORAGE.has(className) ? 'storage' : className;
  const row = rowOf(group, field.name);
  const kind = row?.kind ?? (field.kind === 'counter' ? 'counter' : 'gauge');
  const words = [row?.name ?? `${metricNamePart(group)}_${plainWord(field.name)}`];
  if (field.unit !== '' && !words.join('_').split('_').includes(field.unit)) words.push(field.unit);
  if (kind === 'counter') words.push('total');
  const labels = { ...labelsOf(group, ident), ...row?.labels?.(field.name) };
  return {
    kind,
    metric: { name: `varnish_${words.join('_')}`, help: row?.help ?? sentence(field.help), labels },
  };
}

const rowOf = (group: string, field: string): CleanRow | undefined =>
  CLEAN_TABLE.find((row) => row.group === group && row.fields.test(field));

/** Strips the prefix letter that marks counters and gauges, since the metric's type and suffix show it already. */
const plainWord = (field: string): string => metricNamePart(field).replace(/^[cgns]_(?=.)/, '');

function labelsOf(group: string, ident: string): Record<string, string> {
  const dot = ident.indexOf('.');
  if (dot < 0 || SINGLE.has(group)) return {};
  const rest = ident.slice(dot + 1);
  if (group !== 'vbe') return { [LABELS[group] ?? 'id']: rest };
  const end = rest.indexOf('.');
  return end < 0
    ? { vcl: '', backend: rest }
    : { vcl: rest.slice(0, end), backend: rest.slice(end + 1) };
}

const sentence = (help: string): string => (/[.!?]$/.test(help) || help === '' ? help : `${help}.`);

const start = (process: string) => ({
  name: `varnish_${process}_start_time_seconds`,
  help: `Start time of the ${process} process of Varnish, as a Unix timestamp.`,
  labels: {},
});

export const CLEAN_NAMES: Naming = {
  keyOf: (ident) => ident,
  named: cleanName,
  own: {
    up: { name: 'varnish_up', help: 'Whether Varnish runs.', labels: {} },
    managerStart: start('manager'),
    childStart: start('child'),
    backendUp: (ident) => ({
      name: 'varnish_backend_up',
      help: 'Whether the last probe of the backend succeeded; only for backends that a probe found healthy at least once.',
      labels: labelsOf('vbe', ident),
    }),
  },
};

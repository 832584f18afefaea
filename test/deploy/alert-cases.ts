// For each alert, series that make it fire, and series that almost do.
import { AT_MINUTES } from './promtool.js';
import type { Values } from './promtool.js';

/** Changes to the series of a healthy exporter; undefined removes a series. */
type Changes = Readonly<Record<string, string | undefined>>;

export interface AlertCase {
  readonly alert: string;
  /** With these changes, this alert fires and no other. */
  readonly fires: Changes;
  /** The same for the other metric names of Varnish. */
  readonly firesToo?: Changes;
  /** With these changes, no alert fires. */
  readonly silent: Changes;
}

const AT = 'instance="e:9464"';
const OWN = `${AT},job="shm_exporter"`;
const ADS = 'app="ads",server_key="82"';
const BRIDGE = 'app="shm_bridge",server_key="82"';
const DAY = 86_400;
/** Seconds from the first sample to the evaluation of the alerts. */
const NOW = AT_MINUTES * 60;

const always = (value: number): string => `${value}x100`;
/** Samples with the value `now` in the last `minutes`, and with the value `before` until then. */
const lately = (minutes: number, before: number, now: number): string =>
  `${before}x${AT_MINUTES - 1 - minutes} ${now}x${minutes + 4}`;
/** 0 at one sample near the end, 1 at all others. */
const HICCUP = `1x${AT_MINUTES - 1} 0 1x5`;
const rising = (step: number): string => `0+${step}x100`;
/** Rises in the last `minutes` only. */
const late = (minutes: number, step: number): string =>
  `0x${AT_MINUTES - 1 - minutes} 0+${step}x${minutes + 4}`;

const own = (name: string, labels = ''): string => `${name}{${OWN}${labels && `,${labels}`}}`;
const target = (name: string, labels = ''): string =>
  own(`shm_exporter_${name}`, `${ADS}${labels && `,${labels}`}`);
const page = (labels: string): string => `up{${AT},job="shm",root="h.1.ads",${labels}}`;
const publisher = (state: string): string => target('publisher_state', `state="${state}"`);
const component = (name: string): string =>
  `shm_bridge_component_${name}{${AT},job="shm",root="h.1.shm_bridge",${BRIDGE}}`;

const host = (name: string, app: string, labels: string): string =>
  `${name}{${AT},job="shm",app="${app}",server_key="${app}",root="h.1.${app}"${labels && `,${labels}`}}`;
const jvm = (name: string, labels = '', pid = 7): string =>
  host(`jvm_${name}`, 'jvm', `pid="${pid}",main_class="Till"${labels && `,${labels}`}`);
const files = (name: string): string => host(`multiprocess_${name}`, 'shop', '');
const varnish = (name: string, labels = ''): string => host(`varnish_${name}`, 'varnish', labels);
/** Of `all` lookups a minute, `hits` are hits until 20 minutes before the end, and `then` are hits from there on. */
const lookups = (hit: string, miss: string, hits: number, then: number, all = 1000): Changes => {
  const courseOf = (before: number, after: number): string =>
    `0+${before}x29 ${before * 29 + after}+${after}x40`;
  return { [hit]: courseOf(hits, then), [miss]: courseOf(all - hits, all - then) };
};

/** Returns the same series of another exporter. */
const elsewhere = (series: string): string => series.replace('e:9464', 'f:9464');

const UP = own('up');
const READY = target('internal_target_ready');
const BRIDGE_READY = own('shm_exporter_internal_target_ready', BRIDGE);
const HOST_PAGE = `up{${AT},job="shm"}`;
const ADS_PAGE = page(ADS);
const BRIDGE_PAGE = page(BRIDGE);
const license = (state: string): string => own('shm_exporter_license_state', `state="${state}"`);
const EXPIRY = own('shm_exporter_license_expiry_timestamp_seconds');

const TEXTFILE =
  'node_textfile_mtime_seconds{instance="e:9100",job="node",file="/var/lib/node/shm_exporter.prom"}';
const MERGED = 'shm_exporter_merged_clashing_metrics{instance="e:9100",job="node"}';

/** The series of a healthy exporter that serves one ADS through a bridge. */
const WELL: Values = {
  [UP]: always(1),
  [ADS_PAGE]: always(1),
  [BRIDGE_PAGE]: always(1),
  [READY]: always(1),
  [BRIDGE_READY]: always(1),
  [publisher('live')]: always(1),
  [publisher('dead')]: always(0),
  [publisher('absent')]: always(0),
  [component('up')]: always(1),
  [component('restarts_total')]: always(3),
  [target('target_as_of_age_seconds')]: always(3),
  [target('internal_target_pending_sync_items')]: always(0),
  [target('target_dropped_objects')]: always(0),
  [target('target_dropped_variables')]: always(0),
  [target('target_omitted_objects')]: always(0),
  [target('target_omitted_variables')]: always(0),
  [license('valid')]: always(1),
  [license('expired')]: always(0),
  [EXPIRY]: always(30 * DAY),
  [own('process_start_time_seconds')]: always(0),
  [own('process_open_fds')]: always(30),
  [own('process_max_fds')]: always(100),
  [`ads_process_start_time_seconds{${AT},job="shm",${ADS}}`]: always(0),
};

/** The exporter does not answer, so only the series that Prometheus itself creates remain. */
const SILENCE = Object.fromEntries(
  Object.keys(WELL)
    .filter((series) => !series.startsWith('up{'))
    .map((series) => [series, undefined]),
);

/** The publisher has had this state, and the target has not been ready, for `minutes`. */
const published = (state: string, minutes: number): Changes => ({
  [publisher('live')]: lately(minutes, 1, 0),
  [publisher(state)]: lately(minutes, 0, 1),
  [READY]: lately(minutes, 1, 0),
  [ADS_PAGE]: lately(minutes, 1, 0),
});

export const worldWith = (changes: Changes): Values =>
  Object.fromEntries(
    Object.entries({ ...WELL, ...changes }).flatMap(([series, values]) =>
      values === undefined ? [] : [[series, values]],
    ),
  );

/**
 * The same series if Prometheus scrapes the host page: series of `up` and of scrape durations have no labels of targets,
 * and the page states which targets are up.
 */
export const onHostPage = (values: Values): Values => ({
  [HOST_PAGE]: always(1),
  ...Object.fromEntries(
    Object.entries(values).map(([series, samples]) => {
      if (!series.includes('job="shm",')) return [series, samples];
      return [
        series
          .replace(/^up\{(.*),root="[^"]*"/, 'shm_target_up{$1')
          .replace(/^(scrape_duration_seconds)\{.*/, `$1{${AT},job="shm"}`),
        samples,
      ];
    }),
  ),
});

export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'ShmExporterDown',
    fires: { ...SILENCE, [UP]: always(0), [ADS_PAGE]: always(0), [BRIDGE_PAGE]: always(0) },
    silent: { [UP]: HICCUP },
  },
  {
    alert: 'ShmExporterNotScraped',
    fires: { ...SILENCE, [UP]: undefined },
    silent: { ...SILENCE, [UP]: `1x${AT_MINUTES - 4} stale` },
  },
  {
    alert: 'ShmExporterRestarting',
    fires: { [own('process_start_time_seconds')]: '0x35 2100x4 2400x4 2700x10' },
    silent: { [own('process_start_time_seconds')]: '0x35 2100x8 2700x10' },
  },
  {
    alert: 'ShmTextfileStale',
    fires: { [TEXTFILE]: always(NOW - 180) },
    silent: {
      [TEXTFILE]: rising(60),
      [TEXTFILE.replace('shm_exporter', 'backups')]: always(0),
    },
  },
  {
    alert: 'ShmReloadFailed',
    fires: { [own('shm_exporter_config_last_reload_successful')]: always(0) },
    silent: { [own('shm_exporter_config_last_reload_successful')]: always(1) },
  },
  {
    alert: 'ShmTargetFileFaulty',
    fires: { [own('shm_exporter_target_file_faulty')]: always(1) },
    silent: { [own('shm_exporter_config_last_reload_successful')]: always(1) },
  },
  {
    alert: 'ShmDiscoveryIncomplete',
    fires: { [own('shm_exporter_discovery_left_out')]: always(1) },
    silent: { [own('shm_exporter_discovery_left_out')]: always(0) },
  },
  {
    alert: 'ShmWebConfigRefused',
    fires: { [own('shm_exporter_web_config_last_reload_successful')]: always(0) },
    silent: { [own('shm_exporter_web_config_last_reload_successful')]: always(1) },
  },
  {
    alert: 'ShmCertificateExpiring',
    fires: { [own('shm_exporter_certificate_expiry_timestamp_seconds')]: always(NOW + 6 * DAY) },
    silent: { [own('shm_exporter_certificate_expiry_timestamp_seconds')]: always(NOW + 8 * DAY) },
  },
  {
    alert: 'ShmLicenseExpired',
    fires: { [license('valid')]: always(0), [license('expired')]: always(1), [EXPIRY]: always(-1) },
    silent: { [license('expired')]: always(0) },
  },
  {
    alert: 'ShmLicenseInGrace',
    fires: { [license('valid')]: always(0), [license('grace')]: always(1), [EXPIRY]: always(-1) },
    silent: { [license('grace')]: always(0) },
  },
  {
    alert: 'ShmLicenseExpiring',
    fires: { [EXPIRY]: always(NOW + 13 * DAY) },
    silent: { [EXPIRY]: always(NOW + 15 * DAY) },
  },
  {
    alert: 'ShmLicenseUnusable',
    fires: { [license('valid')]: always(0), [license('invalid')]: always(1) },
    silent: { [license('invalid')]: always(0) },
  },
  {
    alert: 'ShmExporterBusy',
    fires: { [own('nodejs_eventloop_utilization')]: always(0.9) },
    silent: { [own('nodejs_eventloop_utilization')]: lately(5, 0.1, 0.9) },
  },
  {
    alert: 'ShmExporterMemoryHigh',
    fires: { [own('process_resident_memory_bytes')]: always(1.6e9) },
    silent: {
      [own('process_resident_memory_bytes')]: lately(5, 1e9, 1.6e9),
      [elsewhere(own('process_resident_memory_bytes'))]: always(1.4e9),
    },
  },
  {
    alert: 'ShmExporterFilesHigh',
    fires: { [own('process_open_fds')]: always(81) },
    silent: {
      [own('process_open_fds')]: lately(3, 30, 81),
      [elsewhere(own('process_open_fds'))]: always(79),
      [elsewhere(own('process_max_fds'))]: always(100),
    },
  },
  {
    alert: 'ShmResponsesCut',
    fires: { [own('shm_exporter_http_cut_responses_total')]: rising(1) },
    silent: { [own('shm_exporter_http_cut_responses_total')]: lately(5, 7, 9) },
  },
  {
    alert: 'ShmConnectionsReplaced',
    fires: { [own('shm_exporter_http_dropped_connections_total')]: rising(1) },
    silent: { [own('shm_exporter_http_dropped_connections_total')]: always(100) },
  },
  {
    alert: 'ShmRequestsRejected',
    fires: { [own('shm_exporter_http_responses_total', 'code="404"')]: rising(4) },
    silent: {
      [own('shm_exporter_http_responses_total', 'code="404"')]: late(10, 4),
      [own('shm_exporter_http_responses_total', 'code="200"')]: rising(4),
    },
  },
  {
    alert: 'ShmTlsHandshakesFail',
    fires: { [own('shm_exporter_tls_handshake_errors_total', 'reason="plain_http"')]: rising(4) },
    silent: {
      [own('shm_exporter_tls_handshake_errors_total', 'reason="plain_http"')]: late(10, 4),
      [own('shm_exporter_tls_handshake_errors_total', 'reason="timeout"')]: always(100),
    },
  },
  {
    alert: 'ShmScopesUnmatched',
    fires: { [own('shm_exporter_scopes_unmatched')]: always(1) },
    silent: { [own('shm_exporter_scopes_unmatched')]: lately(15, 0, 1) },
  },
  {
    alert: 'ShmClockWrong',
    fires: { [own('process_start_time_seconds')]: always(NOW + 60) },
    silent: { [target('target_as_of_age_seconds')]: lately(1, -1, -10) },
  },
  {
    alert: 'ShmPublisherDead',
    fires: published('dead', 10),
    silent: published('dead', 0),
  },
  {
    alert: 'ShmPublisherAbsent',
    fires: published('closed', 10),
    silent: published('closed', 2),
  },
  {
    alert: 'ShmPublisherStalled',
    fires: published('stalled', 10),
    silent: published('stalled', 0),
  },
  {
    alert: 'ShmWorkersEnded',
    fires: { [host('shm_workers', 'shop', '')]: lately(10, 4, 0) },
    silent: { [host('shm_workers', 'shop', '')]: lately(0, 4, 0) },
  },
  {
    alert: 'ShmWorkersStalled',
    fires: { [host('shm_workers_stalled', 'shop', '')]: lately(10, 0, 1) },
    silent: { [host('shm_workers_stalled', 'shop', '')]: lately(0, 0, 1) },
  },
  {
    alert: 'ShmWorkersLeftOut',
    fires: {
      [host('shm_workers_left_out', 'shop', '')]: always(0),
      [host('shm_workers_left_out_variables', 'shop', '')]: always(2),
    },
    silent: {
      [host('shm_workers_left_out', 'shop', '')]: always(0),
      [host('shm_workers_left_out_variables', 'shop', '')]: always(0),
    },
  },
  {
    alert: 'ShmPublisherUnreadable',
    fires: published('corrupt', 10),
    silent: published('corrupt', 0),
  },
  {
    alert: 'ShmTargetNotReady',
    fires: { [READY]: lately(10, 1, 0), [ADS_PAGE]: lately(10, 1, 0) },
    silent: { [READY]: lately(3, 1, 0), [ADS_PAGE]: lately(3, 1, 0) },
  },
  {
    alert: 'ShmTargetNotDiscovered',
    fires: { [ADS_PAGE]: undefined },
    silent: { [READY]: `_x${AT_MINUTES - 5} 1x10`, [ADS_PAGE]: undefined },
  },
  {
    alert: 'ShmTargetNotScraped',
    fires: { [ADS_PAGE]: lately(10, 1, 0) },
    silent: { [ADS_PAGE]: lately(3, 1, 0) },
  },
  {
    alert: 'ShmHostPageNotScraped',
    fires: { [HOST_PAGE]: always(0) },
    silent: { [HOST_PAGE]: HICCUP },
  },
  {
    alert: 'ShmScrapeSlow',
    fires: { [page(ADS).replace('up', 'scrape_duration_seconds')]: always(6) },
    silent: { [page(ADS).replace('up', 'scrape_duration_seconds')]: lately(5, 4, 6) },
  },
  {
    alert: 'ShmRefreshSlow',
    fires: { [target('target_refresh_duration_p99_ms')]: always(1500) },
    silent: { [target('target_refresh_duration_p99_ms')]: lately(5, 900, 1500) },
  },
  {
    alert: 'ShmQueueSlow',
    fires: { [target('worker_dequeue_latency_p95_ms')]: always(1500) },
    silent: { [target('worker_dequeue_latency_p95_ms')]: lately(5, 1, 1500) },
  },
  {
    alert: 'ShmItemsDropped',
    fires: { [target('target_dropped_variables')]: always(2) },
    silent: { [target('target_dropped_variables')]: lately(3, 0, 2) },
  },
  {
    alert: 'ShmSeriesClash',
    fires: { [target('target_clashing_series')]: always(1) },
    silent: { [target('target_clashing_series')]: lately(10, 3, 0) },
  },
  {
    alert: 'ShmMetricsClash',
    fires: { [MERGED]: always(2) },
    silent: { [MERGED]: lately(10, 2, 0) },
  },
  {
    alert: 'ShmSeriesOmitted',
    fires: { [target('target_omitted_series')]: always(7) },
    silent: { [target('target_omitted_series')]: lately(10, 7, 0) },
  },
  {
    alert: 'ShmItemsOmitted',
    fires: { [target('target_omitted_objects')]: always(7) },
    silent: { [target('target_omitted_objects')]: lately(10, 7, 0) },
  },
  {
    alert: 'ShmDataLeftOut',
    fires: { [target('target_left_out')]: always(7) },
    silent: {
      [target('target_left_out')]: always(7),
      [target('target_omitted_series')]: always(0),
    },
  },
  {
    alert: 'ShmFramesStale',
    fires: { [target('target_stale_frames_total')]: rising(60) },
    silent: {
      [target('target_stale_frames_total')]: late(9, 60),
      [elsewhere(target('target_stale_frames_total'))]: rising(1),
    },
  },
  {
    alert: 'ShmItemsNeverSynced',
    fires: { [target('internal_target_pending_sync_items')]: always(3) },
    silent: { [target('internal_target_pending_sync_items')]: lately(15, 0, 3) },
  },
  {
    alert: 'ShmCatalogueRowsMistyped',
    fires: { [target('target_catalogue_rows_mistyped')]: always(1) },
    silent: { [target('target_catalogue_rows_mistyped')]: lately(5, 0, 1) },
  },
  {
    alert: 'ShmCatalogueRowsUnmatched',
    fires: { [target('target_catalogue_rows_unmatched')]: always(1) },
    silent: { [target('target_catalogue_rows_unmatched')]: lately(15, 0, 1) },
  },
  {
    alert: 'ShmFiltersUnmatched',
    fires: { [target('target_filters_unmatched')]: always(1) },
    silent: { [target('target_filters_unmatched')]: lately(15, 0, 1) },
  },
  {
    alert: 'ShmStartTimeInFuture',
    fires: {
      [`adh_process_start_time_seconds{${AT},job="shm",server_key="80"}`]: always(NOW + 90),
    },
    silent: {
      [`adh_process_start_time_seconds{${AT},job="shm",server_key="80"}`]: lately(3, 0, NOW + 90),
    },
  },
  {
    alert: 'ShmComponentNotPolled',
    fires: { [component('up')]: always(0), [READY]: always(0), [ADS_PAGE]: always(0) },
    silent: { [component('up')]: HICCUP },
  },
  {
    alert: 'ShmComponentStale',
    fires: { [target('target_as_of_age_seconds')]: always(30) },
    silent: { [target('target_as_of_age_seconds')]: always(15) },
  },
  {
    alert: 'ShmComponentRestarted',
    fires: { [component('restarts_total')]: lately(5, 3, 4) },
    silent: { [component('restarts_total')]: lately(20, 3, 4) },
  },
  {
    alert: 'JvmHeapAlmostFull',
    fires: {
      [jvm('memory_pool_collection_used_bytes', 'pool="old space"')]: always(95),
      [jvm('memory_pool_max_bytes', 'pool="old space"')]: always(100),
    },
    silent: {
      [jvm('memory_pool_collection_used_bytes', 'pool="Heap Heap"')]: lately(10, 50, 95),
      [jvm('memory_pool_max_bytes', 'pool="Heap Heap"')]: always(100),
      [jvm('memory_pool_collection_used_bytes', 'pool="metaspace"')]: always(99),
      [jvm('memory_pool_max_bytes', 'pool="metaspace"')]: always(100),
    },
  },
  {
    alert: 'JvmCollectionsSlow',
    fires: {
      [jvm('gc_collection_seconds_sum', 'gc="young"')]: rising(5),
      [jvm('gc_collection_seconds_sum', 'gc="full"')]: rising(5),
    },
    silent: {
      [jvm('gc_collection_seconds_sum', 'gc="young"')]: rising(5),
      [jvm('gc_collection_seconds_sum', 'gc="young"', 8)]: rising(5),
    },
  },
  {
    alert: 'JvmThreadsGrowing',
    fires: { [jvm('threads_current')]: rising(10) },
    silent: { [jvm('threads_current')]: lately(24, 50, 250) },
  },
  {
    alert: 'JvmClassesGrowing',
    fires: {
      [jvm('classes_loaded_total', 'source="class file"')]: rising(40),
      [jvm('classes_unloaded_total', 'source="class file"')]: rising(10),
      [jvm('start_time_seconds')]: always(-7200),
    },
    silent: {
      [jvm('classes_loaded_total', 'source="class file"')]: rising(40),
      [jvm('classes_unloaded_total', 'source="class file"')]: rising(30),
      [jvm('start_time_seconds')]: always(-7200),
      [jvm('classes_loaded_total', 'source="class file"', 8)]: rising(40),
      [jvm('classes_unloaded_total', 'source="class file"', 8)]: always(0),
      [jvm('start_time_seconds', '', 8)]: always(NOW - 1800),
    },
  },
  {
    alert: 'JvmsLeftOut',
    fires: { [host('jvm_processes_left_out', 'jvm', '')]: always(2) },
    silent: { [host('jvm_processes_left_out', 'jvm', '')]: lately(10, 0, 2) },
  },
  {
    alert: 'MultiprocessFilesLeftOut',
    fires: { [files('left_out_files')]: always(1) },
    silent: { [files('left_out_files')]: lately(10, 0, 1) },
  },
  {
    alert: 'MultiprocessEntriesLeftOut',
    fires: { [files('left_out_entries')]: always(1) },
    silent: { [files('left_out_entries')]: lately(10, 0, 1) },
  },
  {
    alert: 'MultiprocessProcessesEnded',
    fires: { [files('files')]: always(4), [files('dead_files')]: always(4) },
    silent: { [files('files')]: always(4), [files('dead_files')]: always(3) },
  },
  {
    alert: 'MultiprocessDeadFilesMany',
    fires: { [files('dead_files')]: always(1001) },
    silent: { [files('dead_files')]: always(1000) },
  },
  {
    alert: 'MultiprocessDirectoryGrows',
    fires: { [files('bytes')]: rising(2e5) },
    silent: { [files('bytes')]: lately(24, 1e6, 50e6) },
  },
  {
    alert: 'VarnishChildDied',
    fires: {
      [varnish('child_exits_total', 'reason="panic"')]: lately(5, 0, 1),
      [varnish('child_exits_total', 'reason="died"')]: lately(5, 0, 1),
    },
    firesToo: { [varnish('mgt_child_panic')]: lately(5, 3, 4) },
    silent: {
      [varnish('child_exits_total', 'reason="stop"')]: lately(5, 0, 1),
      [varnish('child_exits_total', 'reason="panic"')]: lately(20, 0, 1),
      [varnish('mgt_child_died')]: always(3),
    },
  },
  {
    alert: 'VarnishRequestsDropped',
    fires: { [varnish('sessions_total', 'type="dropped"')]: lately(5, 0, 1) },
    firesToo: { [varnish('main_req_dropped')]: lately(5, 0, 1) },
    silent: {
      [varnish('sessions_total', 'type="queued"')]: rising(1),
      [varnish('requests_dropped_total')]: always(7),
      [varnish('main_sessions', 'type="dropped"')]: lately(20, 0, 1),
    },
  },
  {
    alert: 'VarnishThreadsLimited',
    fires: { [varnish('threads_limited_total')]: rising(1) },
    firesToo: { [varnish('main_threads_limited')]: rising(1) },
    silent: { [varnish('threads_limited_total')]: late(5, 1) },
  },
  {
    alert: 'VarnishThreadsFailed',
    fires: { [varnish('threads_failed_total')]: lately(5, 0, 1) },
    firesToo: { [varnish('main_threads_failed')]: lately(5, 0, 1) },
    silent: { [varnish('threads_failed_total')]: always(3) },
  },
  {
    alert: 'VarnishBackendDown',
    fires: { [varnish('backend_up', 'vcl="boot",backend="origin"')]: always(0) },
    firesToo: { [varnish('backend_up', 'backend="origin",server="unknown"')]: always(0) },
    silent: { [varnish('backend_up', 'vcl="boot",backend="origin"')]: lately(3, 1, 0) },
  },
  {
    alert: 'VarnishBackendsFail',
    fires: {
      [varnish('backend_connection_events_total', 'event="fail"')]: rising(4),
      [varnish('backend_connection_events_total', 'event="busy"')]: rising(4),
    },
    firesToo: {
      [varnish('main_backend_fail')]: rising(4),
      [varnish('main_backend_busy')]: rising(4),
      [varnish('main_backend_unhealthy')]: always(0),
    },
    silent: {
      [varnish('backend_connection_events_total', 'event="fail"')]: rising(4),
      [varnish('backend_connection_events_total', 'event="reuse"')]: rising(4),
    },
  },
  {
    alert: 'VarnishHitRatioDropped',
    fires: lookups(
      varnish('cache_lookups_total', 'result="hit"'),
      varnish('cache_lookups_total', 'result="miss"'),
      ...([900, 400] as const),
    ),
    firesToo: lookups(varnish('main_cache_hit'), varnish('main_cache_miss'), 900, 400),
    silent: {
      ...lookups(
        varnish('cache_lookups_total', 'result="hit"'),
        varnish('cache_lookups_total', 'result="miss"'),
        ...([900, 800] as const),
      ),
      // Fewer than one lookup a second.
      ...lookups(
        elsewhere(varnish('main_cache_hit')),
        elsewhere(varnish('main_cache_miss')),
        50,
        5,
        55,
      ),
    },
  },
  {
    alert: 'VarnishCacheTooSmall',
    fires: { [varnish('objects_evicted_total')]: rising(90) },
    firesToo: { [varnish('main_n_lru_nuked')]: rising(90) },
    silent: { [varnish('objects_evicted_total')]: rising(30) },
  },
];

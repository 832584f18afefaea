// Tests that each recording rule computes the values that its name promises.
import { expect } from 'chai';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testRules } from './promtool.js';
import type { Values } from './promtool.js';
import { RECORDS, RECORD_FILES } from './rule-files.js';
import { needsPrograms } from '../support/needs.js';

const OWN = 'instance="e",job="shm_exporter"';
const TARGET = `app="ads",${OWN},server_key="82"`;
const ROOT = 'job="shm",root="h.1.ads"';

/** `level` is a gauge; `perSecond` is a counter that increases by the value every second. */
const level = (value: number): string => `${value}x100`;
const perSecond = (value: number): string => `0+${value * 60}x100`;

const SERIES: Values = {
  [`shm_exporter_internal_target_ready{${TARGET}}`]: level(1),
  [`shm_exporter_internal_target_ready{app="adh",${OWN},server_key="80"}`]: level(0),
  [`shm_exporter_target_series{${TARGET}}`]: level(500),
  [`shm_exporter_target_series{app="adh",${OWN},server_key="80"}`]: level(250),
  [`shm_exporter_http_responses_total{code="200",${OWN}}`]: perSecond(3),
  [`shm_exporter_http_responses_total{code="503",${OWN}}`]: perSecond(1),
  [`shm_exporter_http_sent_bytes_total{${OWN}}`]: perSecond(100),
  [`shm_exporter_http_saved_bytes_total{${OWN}}`]: perSecond(300),
  [`process_cpu_seconds_total{${OWN}}`]: perSecond(0.5),
  [`process_open_fds{${OWN}}`]: level(20),
  [`process_max_fds{${OWN}}`]: level(80),
  [`shm_exporter_target_refresh_total{${TARGET}}`]: perSecond(2),
  [`shm_exporter_internal_scrape_render_cache_hits_total{${TARGET}}`]: perSecond(1),
  [`shm_exporter_internal_scrape_render_cache_misses_total{${TARGET}}`]: perSecond(3),

  [`ads_mounts_num_clients{protocol="rssl",${ROOT}}`]: level(5),
  [`ads_mounts_num_clients{protocol="ws",${ROOT}}`]: level(2),
  [`ads_fanout_messages_total{type="update",${ROOT}}`]: perSecond(10),
  [`ads_fanout_messages_total{type="image",${ROOT}}`]: perSecond(2),
  [`ads_requests_messages_total{type="open",${ROOT}}`]: perSecond(4),
  [`ads_server_sent_bytes_total{transport="ripc",${ROOT}}`]: perSecond(1000),
  [`ads_server_sent_bytes_total{transport="ws",${ROOT}}`]: perSecond(500),
  [`ads_server_errors_total{transport="ws",kind="io",${ROOT}}`]: perSecond(1),
  [`ads_server_errors_total{transport="ws",kind="accept",${ROOT}}`]: perSecond(2),
  [`ads_fanout_update_latency_seconds_bucket{le="0.1",${ROOT}}`]: perSecond(0),
  [`ads_fanout_update_latency_seconds_bucket{le="0.2",${ROOT}}`]: perSecond(1),
  [`ads_fanout_update_latency_seconds_bucket{le="+Inf",${ROOT}}`]: perSecond(1),
  [`ads_streams_items{state="active",${ROOT}}`]: level(3),
  [`ads_streams_items{state="stale",${ROOT}}`]: level(1),
  [`ads_server_buffer_pool{level="size",transport="ws",${ROOT}}`]: level(100),
  [`ads_server_buffer_pool{level="used",transport="ws",${ROOT}}`]: level(25),
  [`ads_shm_server_partition_size_bytes{${ROOT}}`]: level(1000),
  [`ads_shm_server_partition_used_bytes{${ROOT}}`]: level(500),

  [`adh_source_pool_received_messages_total{type="update",${ROOT}}`]: perSecond(6),
  [`adh_source_pool_received_messages_total{type="image",${ROOT}}`]: perSecond(1),
  [`adh_distribution_sent_messages_total{service="a",server="1",type="update",${ROOT}}`]:
    perSecond(2),
  [`adh_distribution_sent_messages_total{service="b",server="2",type="status",${ROOT}}`]:
    perSecond(3),
  [`adh_source_channel_bytes_total{route="r",channel="1",direction="sent",${ROOT}}`]: perSecond(7),
  [`adh_source_channel_bytes_total{route="r",channel="2",direction="sent",${ROOT}}`]: perSecond(8),
  [`adh_source_server_sequence_anomalies_total{service="a",route="r",server="1",kind="gap",${ROOT}}`]:
    perSecond(1),
  [`adh_service_items{service="a",state="active",${ROOT}}`]: level(1),
  [`adh_service_items{service="a",state="stale",${ROOT}}`]: level(3),
  [`adh_shm_server_partition_size_bytes{${ROOT}}`]: level(1000),
  [`adh_shm_server_partition_used_bytes{${ROOT}}`]: level(250),

  [`ats_engine_calculations_total{${ROOT}}`]: perSecond(8),
  [`ats_engine_calculation_errors_total{${ROOT}}`]: perSecond(2),
  [`ats_contribution_posts_total{result="accepted",${ROOT}}`]: perSecond(4),
  [`ats_contribution_posts_total{result="rejected",${ROOT}}`]: perSecond(1),
  [`ats_cache_records{${ROOT}}`]: level(30),
  [`ats_cache_max_records{${ROOT}}`]: level(40),
  [`ats_shm_server_partition_size_bytes{${ROOT}}`]: level(1000),
  [`ats_shm_server_partition_used_bytes{${ROOT}}`]: level(125),

  [`jvm_gc_collection_seconds_sum{pid="7",gc="young",${ROOT}}`]: perSecond(0.125),
  [`jvm_gc_collection_seconds_sum{pid="7",gc="full",${ROOT}}`]: perSecond(0.25),
  [`jvm_memory_pool_collection_used_bytes{pid="7",pool="old space",${ROOT}}`]: level(30),
  [`jvm_memory_pool_max_bytes{pid="7",pool="old space",${ROOT}}`]: level(40),
  [`jvm_classes_loaded_total{pid="7",source="class file",${ROOT}}`]: level(900),
  [`jvm_classes_loaded_total{pid="7",source="shared archive",${ROOT}}`]: level(100),
  [`jvm_classes_unloaded_total{pid="7",source="class file",${ROOT}}`]: level(50),
  [`jvm_classes_unloaded_total{pid="7",source="shared archive",${ROOT}}`]: level(0),
};

const VARNISH: Readonly<Record<'clean' | 'compat', Values>> = {
  clean: {
    [`varnish_client_requests_total{${ROOT}}`]: perSecond(8),
    [`varnish_cache_lookups_total{result="hit",${ROOT}}`]: perSecond(6),
    [`varnish_cache_lookups_total{result="miss",${ROOT}}`]: perSecond(2),
    [`varnish_backend_connection_events_total{event="busy",${ROOT}}`]: perSecond(1),
    [`varnish_backend_connection_events_total{event="fail",${ROOT}}`]: perSecond(2),
    [`varnish_backend_connection_events_total{event="unhealthy",${ROOT}}`]: perSecond(3),
    [`varnish_backend_connection_events_total{event="reuse",${ROOT}}`]: perSecond(9),
    [`varnish_objects_evicted_total{${ROOT}}`]: perSecond(4),
  },
  compat: {
    [`varnish_main_client_req{${ROOT}}`]: perSecond(8),
    [`varnish_main_cache_hit{${ROOT}}`]: perSecond(6),
    [`varnish_main_cache_miss{${ROOT}}`]: perSecond(2),
    [`varnish_main_backend_busy{${ROOT}}`]: perSecond(1),
    [`varnish_main_backend_fail{${ROOT}}`]: perSecond(2),
    [`varnish_main_backend_unhealthy{${ROOT}}`]: perSecond(3),
    [`varnish_main_n_lru_nuked{${ROOT}}`]: perSecond(4),
  },
};

const GIVES: Readonly<Record<string, readonly [labels: string, value: number]>> = {
  'instance:shm_exporter_targets_ready:ratio': [OWN, 0.5],
  'instance:shm_exporter_series:sum': [OWN, 750],
  'instance:shm_exporter_http_responses:rate5m': [OWN, 4],
  'instance:shm_exporter_http_errors:ratio_rate5m': [OWN, 0.25],
  'instance:shm_exporter_http_sent_bytes:rate5m': [OWN, 100],
  'instance:shm_exporter_http_saved_bytes:ratio_rate5m': [OWN, 0.75],
  'instance:shm_exporter_cpu_seconds:rate5m': [OWN, 0.5],
  'instance:shm_exporter_open_fds:ratio': [OWN, 0.25],
  'target:shm_exporter_refreshes:rate5m': [TARGET, 2],
  'target:shm_exporter_render_cache_hits:ratio_rate5m': [TARGET, 0.25],
  'target:ads_mounts_num_clients:sum': [ROOT, 7],
  'target:ads_fanout_messages:rate5m': [ROOT, 12],
  'target:ads_requests_messages:rate5m': [ROOT, 4],
  'target:ads_server_sent_bytes:rate5m': [ROOT, 1500],
  'target:ads_server_errors:rate5m': [ROOT, 3],
  'target:ads_fanout_update_latency_seconds:p99_rate5m': [ROOT, 0.199],
  'target:ads_streams_stale:ratio': [ROOT, 0.25],
  'target_transport:ads_server_buffer_pool_used:ratio': [`transport="ws",${ROOT}`, 0.25],
  'target:ads_shm_server_partition_used:ratio': [ROOT, 0.5],
  'target:adh_source_pool_received_messages:rate5m': [ROOT, 7],
  'target:adh_distribution_sent_messages:rate5m': [ROOT, 5],
  'target:adh_source_channel_bytes:rate5m': [`direction="sent",${ROOT}`, 15],
  'target:adh_source_server_sequence_anomalies:rate5m': [`kind="gap",${ROOT}`, 1],
  'target_service:adh_service_stale:ratio': [`service="a",${ROOT}`, 0.75],
  'target:adh_shm_server_partition_used:ratio': [ROOT, 0.25],
  'target:ats_engine_calculations:rate5m': [ROOT, 8],
  'target:ats_engine_calculation_errors:ratio_rate5m': [ROOT, 0.25],
  'target:ats_contribution_posts:rate5m': [ROOT, 5],
  'target:ats_contribution_posts_rejected:ratio_rate5m': [ROOT, 0.2],
  'target:ats_cache_records:ratio': [ROOT, 0.75],
  'target:ats_shm_server_partition_used:ratio': [ROOT, 0.125],
  'target_jvm:jvm_gc_collection_seconds:share_rate5m': [`pid="7",${ROOT}`, 0.375],
  'target_jvm_pool:jvm_memory_pool_collection_used:ratio': [
    `pid="7",pool="old space",${ROOT}`,
    0.75,
  ],
  'target_jvm:jvm_classes_current:sum': [`pid="7",${ROOT}`, 950],
  'target:varnish_client_requests:rate5m': [ROOT, 8],
  'target:varnish_cache_hits:ratio_rate5m': [ROOT, 0.75],
  'target:varnish_backend_failures:rate5m': [ROOT, 6],
  'target:varnish_objects_evicted:rate5m': [ROOT, 4],
};

/** The labels that a Prometheus Operator adds to each target. */
const OF_OPERATOR = {
  ...{ namespace: 'n', pod: 'p', endpoint: 'metrics', node: 'k', app: 'pod-app' },
  ...{ service: 'shm-exporter', container: 'c' },
};

/**
 * Adds the Operator's labels to a series. If the series already has a label of that name, `honor_labels` keeps the
 * label of the series; without `honor_labels`, that label is renamed to `exported_…`.
 */
function underOperator(labels: string, areHonored: boolean): string {
  const own = new Map(
    [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value]) => [name, value]),
  );
  for (const [name, value] of Object.entries(OF_OPERATOR)) {
    const taken = own.get(name);
    if (taken !== undefined && areHonored) continue;
    if (taken !== undefined) own.set(`exported_${name}`, taken);
    own.set(name, value);
  }
  return [...own].map(([name, value]) => `${name}="${value}"`).join();
}

/** Removes the Operator's labels over which a recording rule aggregates. */
function recorded(record: string, labels: string): string {
  const { expr = '' } = RECORDS.find(({ name }) => name === record) ?? {};
  const [, dropped = ''] = /\bwithout \(([^)]*)\)/.exec(expr) ?? [];
  const without = dropped.split(', ');
  return labels
    .split(',')
    .filter((each) => !without.includes(each.split('=')[0] ?? ''))
    .join();
}

describe('recording rules', () => {
  const folder = temporaryFolder();

  it('are named level:metric:operations, and each has an example', () => {
    for (const { name } of RECORDS) expect(name).to.match(/^[a-z_]+:[a-z_]+:[a-z\d_]+$/);
    expect(Object.keys(GIVES).sort()).to.deep.equal(RECORDS.map(({ name }) => name).sort());
  });

  it('compute the values of their examples', function () {
    needsPrograms(this, 'promtool');
    const expected = Object.entries(GIVES).map(([name, [labels, value]]) => ({
      // Sums of floating-point numbers may differ in their last digits.
      expr: `round(${name}, 1e-6)`,
      samples: [{ labels: `{${labels}}`, value }],
    }));
    const tests = Object.entries(VARNISH).map(([name, ofVarnish]) => ({
      ...{ name, expected },
      values: { ...SERIES, ...ofVarnish },
    }));
    expect(testRules(folder.path('test.yml'), RECORD_FILES, tests)).to.equal('');
  });

  it('give the same series if targets have the labels that the Prometheus Operator adds', function () {
    needsPrograms(this, 'promtool');
    const tests = [true, false].map((areHonored) => ({
      name: `honor_labels: ${areHonored}`,
      values: Object.fromEntries(
        Object.entries({ ...SERIES, ...VARNISH.clean }).map(([series, values]) => [
          series.replace(
            /\{(.*)\}/,
            (_all, labels: string) => `{${underOperator(labels, areHonored)}}`,
          ),
          values,
        ]),
      ),
      expected: Object.entries(GIVES).map(([name, [labels, value]]) => ({
        expr: `round(${name}, 1e-6)`,
        samples: [{ labels: `{${recorded(name, underOperator(labels, areHonored))}}`, value }],
      })),
    }));
    expect(testRules(folder.path('operator.yml'), RECORD_FILES, tests)).to.equal('');
  });
});

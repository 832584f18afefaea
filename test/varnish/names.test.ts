// Tests the two sets of metric names for Varnish: those of prometheus_varnish_exporter, and clean ones.
import { expect } from 'chai';
import { CLEAN_NAMES } from '#app/varnish/names/clean-names.js';
import { COMPAT_NAMES } from '#app/varnish/names/compat-names.js';
import type { Naming, Point } from '#app/varnish/names/compat-names.js';

type Kind = Point['field']['kind'];
const CLASSES: Readonly<Record<string, string>> = { VBE: 'vbe', MAIN: 'main', MGT: 'mgt' };

/** Returns a series in the form of a metrics page, with the type of its metric. */
function seriesOf(
  naming: Naming,
  ident: string,
  name: string,
  kind: Kind,
  unit: '' | 'bytes' | 'seconds' = '',
) {
  const [first = ''] = ident.split('.');
  const className = CLASSES[first] ?? first.toLowerCase();
  const field = { name, kind, unit, help: 'Help' };
  const { metric, kind: shown } = naming.named({ ident, className, field });
  const labels = Object.entries(metric.labels).map(([label, value]) => `${label}="${value}"`);
  return `${metric.name}{${labels.join(',')}} ${shown}`;
}

const ID = '0f2ad1d6-2a0b-4c5a-9d4e-3d2b1a0c9f8e';

describe('The compatible names for Varnish', () => {
  const table: readonly (readonly [string, string, Kind, string])[] = [
    ['MAIN', 'client_req', 'counter', 'varnish_main_client_req{} counter'],
    ['MAIN', 'n_object', 'gauge', 'varnish_main_n_object{} gauge'],
    ['MAIN', 'uptime', 'counter', 'varnish_main_uptime{} counter'],
    ['MGT', 'child_panic', 'counter', 'varnish_mgt_child_panic{} counter'],
    ['MAIN', 'fetch_no_thread', 'counter', 'varnish_main_fetch{type="no_thread"} counter'],
    ['MAIN', 's_fetch', 'counter', 'varnish_main_fetch_total{} counter'],
    ['MAIN', 'sess_conn', 'counter', 'varnish_main_sessions{type="conn"} counter'],
    ['MAIN', 'sess_fail_ebadf', 'counter', 'varnish_main_sessions{type="fail_ebadf"} counter'],
    ['MAIN', 's_sess', 'counter', 'varnish_main_sessions_total{} counter'],
    ['MAIN', 'n_wrk_queued', 'counter', 'varnish_main_worker_threads{type="queued"} counter'],
    ['MAIN', 'n_wrk', 'gauge', 'varnish_main_worker_threads_total{} gauge'],
    ['LCK.vcl', 'locks', 'counter', 'varnish_lock_operations{target="vcl"} counter'],
    ['LCK.vcl', 'creat', 'counter', 'varnish_lock_created{target="vcl"} counter'],
    ['LCK.vcl', 'destroy', 'counter', 'varnish_lock_destroyed{target="vcl"} counter'],
    ['LCK.vcl', 'colls', 'counter', 'varnish_lock_collisions{target="vcl"} counter'],
    ['LCK.vcl', 'dbg_busy', 'counter', 'varnish_lck_dbg_busy{id="vcl"} counter'],
    ['SMA.Transient', 'g_bytes', 'gauge', 'varnish_sma_g_bytes{type="transient"} gauge'],
    ['SMF.s0', 'g_smf_frag', 'gauge', 'varnish_smf_g_smf_frag{type="s0"} gauge'],
    ['MEMPOOL.req0', 'live', 'gauge', 'varnish_mempool_live{id="req0"} gauge'],
    [
      'VBE.boot.shop',
      'req',
      'counter',
      'varnish_backend_req{backend="shop",server="unknown"} counter',
    ],
    [
      'VBE.boot.shop',
      'happy',
      'bitmap',
      'varnish_backend_happy{backend="shop",server="unknown"} gauge',
    ],
    [
      'VBE.reload_20261123_1.shop',
      'req',
      'counter',
      'varnish_backend_req{backend="shop",server="unknown"} counter',
    ],
    [
      'VBE.other.shop',
      'req',
      'counter',
      'varnish_backend_req{backend="other.shop",server="unknown"} counter',
    ],
    [
      'VBE.shop(127.0.0.1,,8080)',
      'req',
      'counter',
      'varnish_backend_req{backend="shop",server="127.0.0.1:8080"} counter',
    ],
    [
      'VBE.boot.shop(127.0.0.1,fe80::1,80)',
      'req',
      'counter',
      'varnish_backend_req{backend="shop",server="127.0.0.1,fe80::1,80"} counter',
    ],
    [
      `VBE.${ID}.shop`,
      'req',
      'counter',
      `varnish_backend_req{backend="shop",server="${ID}"} counter`,
    ],
    [
      `VBE.root:${ID}.shop`,
      'req',
      'counter',
      `varnish_backend_req{backend="shop",server="${ID}"} counter`,
    ],
    ['KVSTORE.a.B', 'hits', 'counter', 'varnish_main_kvstore_a_b_hits{id="kvstore.a.b"} counter'],
    ['OTHER', 'hits', 'counter', 'varnish_main_other_hits{} counter'],
  ];
  for (const [ident, field, kind, series] of table)
    it(`show ${ident}.${field} as ${series}`, () => {
      expect(seriesOf(COMPAT_NAMES, ident, field, kind)).to.equal(series);
    });

  it('have one key for a backend in all VCL programs named boot or reload_*, because they omit these names', () => {
    const keys = ['VBE.boot.a', 'VBE.reload_1.a', 'VBE.reload_2.a', 'VBE.other.a', 'VBE.boot.b'];
    expect(new Set(keys.map(COMPAT_NAMES.keyOf)).size).to.equal(3);
    expect(COMPAT_NAMES.keyOf('SMA.s0')).not.to.equal(COMPAT_NAMES.keyOf('SMF.s0'));
  });
});

describe('The clean names for Varnish', () => {
  const table: readonly (readonly [string, string, Kind, '' | 'bytes' | 'seconds', string])[] = [
    ['MAIN', 'client_req', 'counter', '', 'varnish_client_requests_total{} counter'],
    [
      'MAIN',
      'client_req_400',
      'counter',
      '',
      'varnish_client_bad_requests_total{status="400"} counter',
    ],
    ['MAIN', 'cache_hit', 'counter', '', 'varnish_cache_lookups_total{result="hit"} counter'],
    ['MAIN', 'cache_miss', 'counter', '', 'varnish_cache_lookups_total{result="miss"} counter'],
    ['MAIN', 'cache_hitpass', 'counter', '', 'varnish_cache_hits_for_pass_total{} counter'],
    ['MAIN', 'sess_conn', 'counter', '', 'varnish_sessions_total{type="conn"} counter'],
    [
      'MAIN',
      'sess_fail_eintr',
      'counter',
      '',
      'varnish_session_accept_failures_total{reason="eintr"} counter',
    ],
    ['MAIN', 'n_object', 'gauge', '', 'varnish_objects{} gauge'],
    ['MAIN', 'threads', 'gauge', '', 'varnish_threads{} gauge'],
    ['MAIN', 'uptime', 'counter', 'seconds', 'varnish_child_uptime_seconds{} gauge'],
    ['MGT', 'uptime', 'counter', 'seconds', 'varnish_manager_uptime_seconds{} gauge'],
    ['MGT', 'child_panic', 'counter', '', 'varnish_child_exits_total{reason="panic"} counter'],
    [
      'MAIN',
      's_req_hdrbytes',
      'counter',
      'bytes',
      'varnish_client_request_header_bytes_total{} counter',
    ],
    [
      'MAIN',
      'bans_persisted_fragmentation',
      'gauge',
      'bytes',
      'varnish_main_bans_persisted_fragmentation_bytes{} gauge',
    ],
    ['MAIN', 'busy_sleep', 'counter', '', 'varnish_main_busy_sleep_total{} counter'],
    ['MAIN', 'n_new', 'gauge', '', 'varnish_main_new{} gauge'],
    [
      'SMA.Transient',
      'g_bytes',
      'gauge',
      'bytes',
      'varnish_storage_used_bytes{storage="Transient"} gauge',
    ],
    [
      'SMF.s0',
      'c_freed',
      'counter',
      'bytes',
      'varnish_storage_freed_bytes_total{storage="s0"} counter',
    ],
    [
      'VBE.boot.shop',
      'req',
      'counter',
      '',
      'varnish_backend_requests_total{vcl="boot",backend="shop"} counter',
    ],
    [
      'VBE.boot.goto.(1.2.3.4)',
      'conn',
      'gauge',
      '',
      'varnish_backend_connections{vcl="boot",backend="goto.(1.2.3.4)"} gauge',
    ],
    [
      'VBE.boot.shop',
      'happy',
      'bitmap',
      '',
      'varnish_backend_probe_bitmap{vcl="boot",backend="shop"} gauge',
    ],
    [
      'VBE.boot.shop',
      'fail_other',
      'counter',
      '',
      'varnish_backend_connection_failures_total{vcl="boot",backend="shop",reason="other"} counter',
    ],
    ['LCK.vcl', 'locks', 'counter', '', 'varnish_lock_operations_total{lock="vcl"} counter'],
    [
      'MEMPOOL.req0',
      'sz_actual',
      'gauge',
      'bytes',
      'varnish_mempool_item_bytes{pool="req0"} gauge',
    ],
    ['OTHER.a.b', 'c_things', 'counter', '', 'varnish_other_things_total{id="a.b"} counter'],
  ];
  for (const [ident, field, kind, unit, series] of table)
    it(`show ${ident}.${field} as ${series}`, () => {
      expect(seriesOf(CLEAN_NAMES, ident, field, kind, unit)).to.equal(series);
    });
});

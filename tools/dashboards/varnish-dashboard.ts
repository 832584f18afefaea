// The dashboard of Varnish, whose metrics no catalogue has. Each panel has the names of both settings of `names`.
import { factsOf, health } from './app-dashboard.js';
import { dashboard, layOut } from './dashboard.js';
import type { Dashboard, Drawing, Section } from './dashboard.js';
import { stateTimeline, timeSeries } from './drawings.js';
import { SELECTOR, flagMappings } from './family-panel.js';

const RANGE = '[$__rate_interval]';
/** Selects a metric; `more` has further matchers. The prefix `varnish_` is left out. */
const of = (name: string, more = ''): string => `varnish_${name}{${SELECTOR}${more && `,${more}`}}`;
const rate = (name: string, more = ''): string => `rate(${of(name, more)}${RANGE})`;
/** A query that works with the names of `clean` and with those of `compat`. */
const either = (clean: string, compat: string): string => `${clean} or ${compat}`;

const ROOT = '{{root}}';
/** The labels of a backend: the first two with the names of `clean`, the last two with those of `compat`. */
const BACKEND = '{{root}} {{vcl}} {{backend}} {{server}}';
const FAILURES = ['busy', 'fail', 'unhealthy'];

const clients: readonly Drawing[] = [
  timeSeries('reqps', {
    title: 'Requests',
    description: 'Requests of clients, including those of ESI, per second.',
    queries: { [ROOT]: either(rate('client_requests_total'), rate('main_client_req')) },
  }),
  timeSeries('percentunit', {
    title: 'Hit ratio',
    description: 'Lookups that found an object in the cache, divided by all hits and misses.',
    queries: {
      [ROOT]: either(
        `sum without (result) (${rate('cache_lookups_total', 'result="hit"')}) / (sum without (result) (${rate('cache_lookups_total')}) > 0)`,
        `${rate('main_cache_hit')} / (${rate('main_cache_hit')} + ${rate('main_cache_miss')} > 0)`,
      ),
    },
  }),
  timeSeries('cps', {
    title: 'Lookups in the cache',
    description:
      'Hits, misses, and requests that the cache does not serve, since an earlier response could not be cached.',
    queries: {
      [`hits ${ROOT}`]: either(rate('cache_lookups_total', 'result="hit"'), rate('main_cache_hit')),
      [`misses ${ROOT}`]: either(
        rate('cache_lookups_total', 'result="miss"'),
        rate('main_cache_miss'),
      ),
      [`hits for pass ${ROOT}`]: either(
        rate('cache_hits_for_pass_total'),
        rate('main_cache_hitpass'),
      ),
      [`hits for miss ${ROOT}`]: either(
        rate('cache_hits_for_miss_total'),
        rate('main_cache_hitmiss'),
      ),
    },
  }),
  timeSeries('Bps', {
    title: 'Bytes of responses',
    description: 'Headers and bodies that were sent to clients, per second.',
    queries: {
      [`bodies ${ROOT}`]: either(
        rate('client_response_body_bytes_total'),
        rate('main_s_resp_bodybytes'),
      ),
      [`headers ${ROOT}`]: either(
        rate('client_response_header_bytes_total'),
        rate('main_s_resp_hdrbytes'),
      ),
    },
  }),
  timeSeries('cps', {
    title: 'Sessions by outcome',
    description: 'Dropped sessions found no thread; queued ones waited for a thread.',
    queries: {
      [`{{type}} ${ROOT}`]: either(rate('sessions_total'), rate('main_sessions')),
    },
  }),
  timeSeries('cps', {
    title: 'Lost requests',
    description:
      'Requests that were dropped for lack of a thread, and deliveries that failed with status 500.',
    queries: {
      [`dropped ${ROOT}`]: either(rate('requests_dropped_total'), rate('main_req_dropped')),
      [`failed ${ROOT}`]: either(
        rate('client_failed_deliveries_total'),
        rate('main_client_resp_500'),
      ),
    },
  }),
];

const backends: readonly Drawing[] = [
  stateTimeline(flagMappings(['down', 'red'], ['up', 'green']), {
    title: 'Backends with a probe',
    description: 'Whether the last probe of the backend succeeded.',
    queries: { [BACKEND]: of('backend_up') },
    w: 12,
  }),
  timeSeries('reqps', {
    title: 'Requests to backends',
    description: 'Requests that were sent to each backend, per second.',
    queries: { [BACKEND]: either(rate('backend_requests_total'), rate('backend_req')) },
    w: 12,
  }),
  timeSeries('cps', {
    title: 'Failed connections',
    description:
      'Connections to backends that failed, by reason: refused, all connections busy, or probes failed.',
    queries: {
      [`{{event}} ${ROOT}`]: rate(
        'backend_connection_events_total',
        `event=~"${FAILURES.join('|')}"`,
      ),
      ...Object.fromEntries(
        FAILURES.map((event) => [`${event} ${ROOT}`, rate(`main_backend_${event}`)]),
      ),
    },
  }),
  timeSeries('cps', {
    title: 'Failed connections by backend',
    description: 'Connections to each backend that failed, per second.',
    queries: {
      [BACKEND]: either(rate('backend_failed_connections_total'), rate('backend_fail')),
    },
  }),
  timeSeries('cps', {
    title: 'Fetches by result',
    description: 'Fetches from backends by kind of body, or kind of failure.',
    queries: {
      [`{{result}}{{type}} ${ROOT}`]: either(rate('fetch_results_total'), rate('main_fetch')),
    },
  }),
];

const storage: readonly Drawing[] = [
  timeSeries('bytes', {
    title: 'Storage',
    description: 'Used and free bytes of each storage; malloc without a size has no free bytes.',
    queries: {
      [`used {{storage}}{{type}} ${ROOT}`]: either(of('storage_used_bytes'), of('sma_g_bytes')),
      [`free {{storage}}{{type}} ${ROOT}`]: either(of('storage_free_bytes'), of('sma_g_space')),
    },
  }),
  timeSeries('short', {
    title: 'Objects',
    description: 'Objects in the cache.',
    queries: { [ROOT]: either(of('objects'), of('main_n_object')) },
  }),
  timeSeries('cps', {
    title: 'Removed objects',
    description:
      'Objects that expired, and objects that were evicted to make room for others, per second.',
    queries: {
      [`expired ${ROOT}`]: either(rate('objects_expired_total'), rate('main_n_expired')),
      [`evicted ${ROOT}`]: either(rate('objects_evicted_total'), rate('main_n_lru_nuked')),
    },
  }),
];

const processes: readonly Drawing[] = [
  timeSeries('short', {
    title: 'Threads',
    description: 'Worker threads, and requests that wait for one.',
    queries: {
      [`threads ${ROOT}`]: either(of('threads'), of('main_threads')),
      [`waiting ${ROOT}`]: either(of('thread_queue_length'), of('main_thread_queue_len')),
    },
  }),
  timeSeries('cps', {
    title: 'Missing threads',
    description: 'Threads that a limit of Varnish or the system refused, per second.',
    queries: {
      [`limited ${ROOT}`]: either(rate('threads_limited_total'), rate('main_threads_limited')),
      [`failed ${ROOT}`]: either(rate('threads_failed_total'), rate('main_threads_failed')),
    },
  }),
  timeSeries('s', {
    title: 'Uptime of the child',
    description: 'A fall to 0 is a restart of the child process, which empties the cache.',
    queries: { [ROOT]: either(of('child_uptime_seconds'), of('main_uptime')) },
  }),
];

const SECTIONS: readonly Section[] = [
  { title: 'Health', drawings: health('varnish', new Map()) },
  { title: 'Clients and cache', drawings: clients },
  { title: 'Backends', drawings: backends },
  { title: 'Storage', drawings: storage },
  { title: 'Threads and processes', drawings: processes },
];

export const varnishDashboard = (): Dashboard =>
  dashboard(
    factsOf('varnish', {
      title: 'Varnish',
      description:
        'For both settings of names. Docs: docs/formats.md (Varnish) and docs/alerts.md (Varnish).',
    }),
    layOut(SECTIONS),
  );

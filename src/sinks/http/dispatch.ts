// Dispatches a request to a scrape or another endpoint, and answers it (spec 4).
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { concatMap, from, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type {
  DemandAnswer,
  Format,
  Page,
  PageContent,
  Scope,
  SyncProgress,
  Target,
} from '../../model.js';
import { pluralize } from '../../pluralize.js';
import type { SelfMetrics } from '../self-metrics.js';
import { identitiesOf } from '../sink.js';
import { chooseFormat, prefersGzip } from './choose-format.js';
import type { Formats } from './choose-format.js';
import { authorityOf } from './http-server.js';
import { HOST_PATH, hostPage } from './host-page.js';
import type { HostPageOptions } from './host-page.js';
import { htmlReply } from './pages/html.js';
import { readStatusQuery, statusPage } from './pages/status-page.js';
import type { ProcessInfo } from './pages/status-page.js';
import { TREE_PATH } from './pages/tree-page.js';
import type { TreeResponder } from './pages/tree-page.js';
import { compressiblePage, plainPage, textReply } from './reply.js';
import type { Reply } from './reply.js';
import { hasRouting, parametersOf, route } from './route.js';

export type ReloadAnswer =
  | {
      readonly kind: 'accepted';
      /** Sentences about the settings that take effect only after a restart, and about files that are left out. */
      readonly notApplied: readonly string[];
    }
  | {
      readonly kind: 'refused';
      /** All errors of the new configuration. The current configuration stays in use. */
      readonly reasons: readonly string[];
    };

export interface EndpointOptions {
  /** Base scrape path, such as `/metrics`. */
  readonly path: string;
  readonly formats: Formats;
  readonly scope: (name: string) => Scope | undefined;
  readonly scopeNames: (target: Target) => readonly string[];
  readonly notReady: (progress: SyncProgress) => string;
  readonly selfMetrics: SelfMetrics;
  readonly service: () => ProcessInfo;
  readonly unixMs: () => number;
  /** Answers requests for the tree page; undefined if the configuration disables it. */
  readonly tree: TreeResponder | undefined;
  readonly hostPage: HostPageOptions;
  /** Reloads the configuration; undefined if the configuration disables reloads by HTTP. */
  readonly reload: (() => ReloadAnswer) | undefined;
}

export interface DispatchedRequest {
  readonly isScrape: boolean;
  readonly reply: () => Observable<Reply>;
}

type Endpoint = (
  targets: readonly Target[],
  options: EndpointOptions,
  request: IncomingMessage,
  query: URLSearchParams,
) => Observable<Reply>;

/** The endpoints for GET and HEAD besides scrapes and the tree page, by path. */
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['/', (targets, options, _, query) => of(status(targets, options, query))],
  ['/-/healthy', () => of(textReply(200, 'healthy'))],
  ['/-/ready', (targets) => of(readiness(targets))],
  ['/-/targets', (targets, options, request) => of(discovery(targets, options, request))],
  ['/-/metrics', (targets, { selfMetrics }) => ownMetrics(targets, selfMetrics)],
]);

const RELOAD_PATH = '/-/reload';

const ALLOWED = new Set(['GET', 'HEAD']);

/**
 * Dispatches a request. Checks the path (404), then the method (405), then the parameters of a scrape.
 * @param targets returns the current targets; called when the reply is made
 */
export function dispatch(
  request: IncomingMessage,
  targets: () => readonly Target[],
  options: EndpointOptions,
): DispatchedRequest {
  const { method = '', url = '', headers, httpVersion } = request;
  const { path, tree } = options;
  if (headers.host === undefined && httpVersion === '1.1')
    return refusal(400, 'the request has no Host header');
  const { pathname, query } = splitTarget(url);
  if (pathname === RELOAD_PATH) return reloadRequested(method, options.reload);
  const inPath = scopeInPath(pathname, path);
  const isTree = inPath === undefined && pathname === TREE_PATH;
  if (isTree && tree === undefined)
    return refusal(403, 'trees are off; http_tree_enabled turns them on');
  const isHost =
    options.hostPage.isEnabled() &&
    (pathname === HOST_PATH || (inPath !== undefined && !hasRouting(query)));
  if (isHost && method !== 'OPTIONS' && ALLOWED.has(method))
    return {
      isScrape: true,
      reply: () => hostScrape(targets(), options, headers, query, inPath?.scope),
    };
  if (pathname === HOST_PATH && !isHost)
    return refusal(404, 'the host page is off; [host_page] in the configuration enables it');
  const endpoint: Endpoint | undefined =
    isTree && tree !== undefined ? (all) => tree(all, query) : ENDPOINTS.get(pathname);
  if (endpoint === undefined && inPath === undefined && !isHost)
    return refusal(404, `no page ${pathname}; the metrics are at ${path}`);
  if (method === 'OPTIONS') return optionsOf('GET, HEAD');
  if (!ALLOWED.has(method))
    return refusal(405, `method ${method} is not allowed`, { Allow: 'GET, HEAD' });
  if (endpoint !== undefined)
    return { isScrape: false, reply: () => endpoint(targets(), options, request, query) };
  const scrapes = () => scrape(targets(), options, headers, query, inPath?.scope);
  return { isScrape: true, reply: scrapes };
}

/** Splits the URL of a request into path and query. A proxy may send an absolute URL, with scheme and host. */
function splitTarget(target: string): { pathname: string; query: URLSearchParams } {
  const url = target.replace(/^[A-Za-z]+:\/\/[^/?]*/, '');
  const mark = url.indexOf('?');
  const pathname = mark < 0 ? url : url.slice(0, mark);
  return { pathname, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) };
}

/** The scope in a path, after the base path; undefined for a path that is not a scrape path. */
function scopeInPath(
  pathname: string,
  base: string,
): { readonly scope: string | undefined } | undefined {
  if (pathname === base) return { scope: undefined };
  if (!pathname.startsWith(`${base}/`)) return undefined;
  const segment = pathname.slice(base.length + 1);
  if (segment === '' || segment.includes('/')) return undefined;
  try {
    return { scope: decodeURIComponent(segment) };
  } catch {
    return undefined;
  }
}

const refusal = (...reply: Parameters<typeof textReply>): DispatchedRequest => ({
  isScrape: false,
  reply: () => of(textReply(...reply)),
});

/** The answer to OPTIONS, which some load balancers send as a health check. */
const optionsOf = (allowed: string): DispatchedRequest =>
  refusal(200, `allowed: ${allowed}`, { Allow: allowed });

/** Replies 200 with the settings that need a restart, or 500 with all errors. */
function reloadRequested(method: string, reload: EndpointOptions['reload']): DispatchedRequest {
  if (reload === undefined)
    return refusal(403, 'reloads by HTTP are off; http_reload_enabled turns them on');
  if (method === 'OPTIONS') return optionsOf('POST');
  if (method !== 'POST') return refusal(405, `method ${method} is not allowed`, { Allow: 'POST' });
  const reply = (): Reply => {
    const answer = reload();
    return answer.kind === 'accepted'
      ? textReply(200, ['configuration reloaded', ...answer.notApplied].join('\n'))
      : textReply(500, ['configuration not reloaded:', ...answer.reasons].join('\n'));
  };
  return { isScrape: false, reply: () => of(reply()) };
}

/** Answers a scrape. Checks the routing (400 or 404), then the readiness (503), then the scope (404). */
function scrape(
  targets: readonly Target[],
  options: EndpointOptions,
  { accept, 'accept-encoding': coding }: IncomingMessage['headers'],
  query: URLSearchParams,
  inPath: string | undefined,
): Observable<Reply> {
  const routed = route(targets, query, inPath);
  if (routed.kind === 'refused') return of(textReply(routed.status, routed.text));
  const { target, scope: name } = routed;
  const scope = name === undefined ? undefined : options.scope(name);
  // The function `encoded` in reply.ts decides on the coding of the response.
  if (name === undefined || scope !== undefined) {
    const preferred = chooseFormat(options.formats, accept);
    return target
      .demand(scope, preferred.form(prefersGzip(coding)))
      .pipe(concatMap((answer) => replyWith(answer, options, scope, { preferred, accept })));
  }
  // An unknown scope needs no render.
  const { isReady, progress } = target.status();
  return of(
    isReady
      ? textReply(404, `no metric scope ${JSON.stringify(name)}`)
      : textReply(503, options.notReady(progress)),
  );
}

function replyWith(
  answer: DemandAnswer,
  { formats, notReady }: EndpointOptions,
  scope: Scope | undefined,
  client: Client,
): Observable<Reply> {
  if (answer.kind === 'waiting') return of(textReply(503, notReady(answer.status.progress)));
  const { snapshot, internal } = answer;
  if (scope !== undefined && snapshot.metadata.length === 0 && internal.length === 0)
    return of(textReply(404, `scope ${JSON.stringify(scope.name)} matches no rendered metrics`));
  return pageReply(answer, formats, client);
}

interface Client {
  /** The format of its page, if the format allows all values. */
  readonly preferred: Format;
  /** Its header Accept. */
  readonly accept: string | undefined;
}

/** Makes the page. Holds the snapshot before it returns. */
function pageReply(
  content: PageContent,
  [text, ...others]: Formats,
  { preferred, accept }: Client,
): Observable<Reply> {
  const allows = (format: Format): boolean => format.accepts?.(content) !== false;
  const format = allows(preferred)
    ? preferred
    : chooseFormat([text, ...others.filter(allows)], accept);
  const made = format.page(content);
  const replyOf = (page: Page): Reply => ({
    status: 200,
    headers: { Vary: 'Accept, Accept-Encoding' },
    page,
  });
  return made instanceof Promise ? from(made).pipe(map(replyOf)) : of(replyOf(made));
}

/** Answers a scrape of the host page. Checks the scope (400 or 404), and ignores parameters other than filters. */
function hostScrape(
  targets: readonly Target[],
  options: EndpointOptions,
  {
    accept,
    'accept-encoding': coding,
    'x-prometheus-scrape-timeout-seconds': timeout,
  }: IncomingMessage['headers'],
  query: URLSearchParams,
  inPath: string | undefined,
): Observable<Reply> {
  const names = [...query.getAll('scope'), ...(inPath === undefined ? [] : [inPath])];
  const [name] = names;
  const scope = name === undefined ? undefined : options.scope(name);
  if (new Set(names).size > 1) return of(textReply(400, 'scope is given more than once'));
  if (name !== undefined && scope === undefined)
    return of(textReply(404, `no metric scope ${JSON.stringify(name)}`));
  const preferred = chooseFormat(options.formats, accept);
  const form = preferred.form(prefersGzip(coding));
  const [apps, serverKeys] = [query.getAll('app'), query.getAll('server_key')];
  const request = { apps, serverKeys, scope, form, timeoutSeconds: Number(timeout) };
  return hostPage(targets, request, options.hostPage).pipe(
    concatMap(({ content, release }) => {
      try {
        return pageReply(content, options.formats, { preferred, accept });
      } finally {
        release();
      }
    }),
  );
}

/** The status page. */
function status(
  targets: readonly Target[],
  { path, hostPage: host, tree, service, unixMs, scope, scopeNames }: EndpointOptions,
  query: URLSearchParams,
): Reply {
  const scopesFor = (target: Target): readonly Scope[] =>
    scopeNames(target).flatMap((name) => scope(name) ?? []);
  const hasHostPage = host.isEnabled();
  const facts = { path, hasHostPage, hasTrees: tree !== undefined, scopesFor, service: service() };
  const page = statusPage(targets, { ...facts, nowMs: unixMs() }, readStatusQuery(query));
  return htmlReply(200, page);
}

/** The reply of the readiness probe: 200 if all targets are ready, except discovered ones, which may go at any time. */
function readiness(targets: readonly Target[]): Reply {
  const waiting = targets
    .filter(({ isDiscovered }) => !isDiscovered)
    .map((target) => target.status())
    .filter(({ isReady }) => !isReady);
  const [first] = waiting;
  if (first === undefined) return textReply(200, 'ready');
  return textReply(
    503,
    `${waiting.length} of ${pluralize(targets.length, 'target')} not ready: ${first.progress.reason}`,
  );
}

/**
 * The JSON document of service discovery: a group for each target, ready or not. The labels name the last root, so they
 * do not change when the root is lost.
 */
function discovery(
  targets: readonly Target[],
  { path, hostPage: host }: Pick<EndpointOptions, 'path' | 'hostPage'>,
  request: IncomingMessage,
): Reply {
  const authority = reachedAt(request);
  const scheme = request.socket instanceof TLSSocket ? { __scheme__: 'https' } : {};
  const parameters = parametersOf(targets, host.isEnabled());
  const groups = [...identitiesOf(targets)].map(([target, identity]) => {
    const { lastRoot, keyLabels } = target;
    return {
      targets: [authority],
      labels: {
        ...scheme,
        __metrics_path__: path,
        ...Object.fromEntries(
          Object.entries(parameters(target)).map(([name, value]) => [`__param_${name}`, value]),
        ),
        ...identity,
        ...(lastRoot && { root: lastRoot.id }),
        ...keyLabels,
      },
    };
  });
  return { status: 200, page: plainPage(`${JSON.stringify(groups)}\n`, 'application/json') };
}

/** Matches a host name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
const AUTHORITY = /^(?:[\w-][\w.-]{0,252}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Matches the beginning of a link-local address (fe80::/10). */
const LINK_LOCAL = /^\[fe[89ab]/i;

/**
 * The Host header if it is valid, else the local address of the connection. Clients omit the zone of a link-local
 * address from the header (RFC 6874), so only the local address has the zone.
 */
function reachedAt({ headers, socket }: IncomingMessage): string {
  const { host = '' } = headers;
  const { localAddress = '', localPort = 0 } = socket;
  const lacksZone = localAddress.includes('%') && LINK_LOCAL.test(host);
  return AUTHORITY.test(host) && !lacksZone ? host : authorityOf(localAddress, localPort);
}

const ownMetrics = (targets: readonly Target[], selfMetrics: SelfMetrics): Observable<Reply> =>
  from(selfMetrics.text(targets)).pipe(
    map((text) => ({
      status: 200,
      headers: { Vary: 'Accept-Encoding' },
      page: compressiblePage(text, selfMetrics.contentType),
    })),
  );

// Dispatches a request to a scrape or another endpoint, and answers scrapes (spec 4).
import type { IncomingMessage } from 'node:http';
import { map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { DemandAnswer, Scope, SyncProgress, Target } from '../../model.js';
import { chooseFormat, prefersGzip } from './choose-format.js';
import type { Formats } from './choose-format.js';
import { ENDPOINTS, RELOAD_PATH, reloaded } from './endpoints.js';
import type { EndpointOptions } from './endpoints.js';
import { textReply } from './reply.js';
import type { Reply } from './reply.js';
import { route } from './route.js';

export interface ScrapeOptions {
  readonly formats: Formats;
  /** Returns the current scope with the name `name`. */
  readonly scope: (name: string) => Scope | undefined;
  readonly notReady: (progress: SyncProgress) => string;
}

/** The parameters of a scrape. The path and the query can each name a scope. */
interface ScrapeRequest {
  readonly scope: string | undefined;
  readonly query: URLSearchParams;
  /** The Accept header. */
  readonly accept: string | undefined;
  /** Whether to render gzip. The function `encoded` in reply.ts decides on the coding of the response. */
  readonly prefersGzip: boolean;
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

/** Answers a scrape. Checks the routing (400 or 404), then the readiness (503), then the scope (404). */
function scrape(
  request: ScrapeRequest,
  targets: readonly Target[],
  options: ScrapeOptions,
): Observable<Reply> {
  const routed = route(targets, request.query, request.scope);
  if (routed.kind === 'refused') return of(textReply(routed.status, routed.text));
  const { target, scope: name } = routed;
  const scope = name === undefined ? undefined : options.scope(name);
  if (name === undefined || scope !== undefined)
    return target
      .demand(scope, request.prefersGzip ? 'deflated' : 'text')
      .pipe(map((each) => replyWith(each, options, scope, request.accept)));
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
  { formats, notReady }: ScrapeOptions,
  scope: Scope | undefined,
  accept: string | undefined,
): Reply {
  if (answer.kind === 'waiting') return textReply(503, notReady(answer.status.progress));
  const { snapshot, internal } = answer;
  if (scope !== undefined && snapshot.metadata.length === 0 && internal.length === 0)
    return textReply(404, `scope ${JSON.stringify(scope.name)} matches no rendered metrics`);
  const [text, ...others] = formats;
  const usable = others.filter((each) => each.accepts?.(answer) !== false);
  const format = chooseFormat([text, ...usable], accept);
  const page = format.page(answer);
  return { status: 200, headers: { Vary: 'Accept, Accept-Encoding' }, page };
}

/** The kind of a request, and its reply. */
export interface DispatchedRequest {
  readonly kind: 'scrape' | 'page';
  readonly reply: () => Observable<Reply>;
}

/** The path of the tree page. If the base scrape path is also `/tree`, the scrape takes precedence. */
export const TREE_PATH = '/tree';

const ALLOWED = new Set(['GET', 'HEAD']);

/**
 * Dispatches a request. Checks the path (404), then the method (405), then the parameters of a scrape.
 * @param targets returns the current targets; called when the reply is made
 */
export function dispatch(
  request: IncomingMessage,
  targets: () => readonly Target[],
  options: ScrapeOptions & EndpointOptions,
): DispatchedRequest {
  const { method = '', url = '', headers, httpVersion } = request;
  if (headers.host === undefined && httpVersion === '1.1')
    return refusal(400, 'the request has no Host header');
  const { pathname, query } = splitTarget(url);
  if (pathname === RELOAD_PATH) return reloadRequested(method, options.reload);
  const endpoint = ENDPOINTS.get(pathname);
  const inPath = scopeInPath(pathname, options.path);
  const isTree = endpoint === undefined && inPath === undefined && pathname === TREE_PATH;
  if (isTree && options.tree === undefined)
    return refusal(403, 'trees are off; http_tree_enabled turns them on');
  if (endpoint === undefined && inPath === undefined && !isTree)
    return refusal(404, `no page ${pathname}; the metrics are at ${options.path}`);
  if (method === 'OPTIONS') return optionsOf('GET, HEAD');
  if (!ALLOWED.has(method))
    return refusal(405, `method ${method} is not allowed`, { Allow: 'GET, HEAD' });
  if (endpoint !== undefined)
    return { kind: 'page', reply: () => endpoint(targets(), options, request, query) };
  const { tree } = options;
  if (isTree && tree !== undefined) return { kind: 'page', reply: () => tree(targets(), query) };
  const parameters = {
    scope: inPath?.scope,
    query,
    accept: headers.accept,
    prefersGzip: prefersGzip(headers['accept-encoding']),
  };
  return { kind: 'scrape', reply: () => scrape(parameters, targets(), options) };
}

function reloadRequested(method: string, reload: EndpointOptions['reload']): DispatchedRequest {
  if (reload === undefined)
    return refusal(403, 'reloads by HTTP are off; http_reload_enabled turns them on');
  if (method === 'OPTIONS') return optionsOf('POST');
  if (method !== 'POST') return refusal(405, `method ${method} is not allowed`, { Allow: 'POST' });
  return { kind: 'page', reply: () => reloaded(reload) };
}

/** The answer to OPTIONS, which some load balancers send as a health check. */
const optionsOf = (allowed: string): DispatchedRequest =>
  refusal(200, `allowed: ${allowed}`, { Allow: allowed });

const refusal = (...reply: Parameters<typeof textReply>): DispatchedRequest => ({
  kind: 'page',
  reply: () => of(textReply(...reply)),
});

/** Splits the URL of a request into path and query. A proxy may send an absolute URL, with scheme and host. */
function splitTarget(target: string): { pathname: string; query: URLSearchParams } {
  const url = target.replace(/^[A-Za-z]+:\/\/[^/?]*/, '');
  const mark = url.indexOf('?');
  const pathname = mark < 0 ? url : url.slice(0, mark);
  return { pathname, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) };
}

// What a request asks for: a scrape, or one of the exporter's own pages. Spec 4.
import type { IncomingMessage } from 'node:http';
import { of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Target } from '../../model.js';
import { OWN_PAGES, RELOAD_PATH, reloaded } from './own-pages.js';
import type { OwnPagesOptions } from './own-pages.js';
import { textReply } from './reply.js';
import type { Reply } from './reply.js';
import { prefersGzip } from './prefers-gzip.js';
import { scopeInPath, scrape } from './scrape.js';
import type { ScrapeOptions } from './scrape.js';

/** The kind of the request, and the reply that it gets. */
export interface Requested {
  readonly kind: 'scrape' | 'page';
  readonly reply: () => Observable<Reply>;
}

/** A base scrape path that is the same goes first. */
export const TREE_PATH = '/tree';

const ALLOWED = new Set(['GET', 'HEAD']);

/**
 * Checks in order: path 404, method 405; a scrape then checks the rest.
 * @param targets those of the moment: a request may wait before it is replied to
 */
export function requested(
  request: IncomingMessage,
  targets: () => readonly Target[],
  options: ScrapeOptions & OwnPagesOptions,
): Requested {
  const { method = '', url = '', headers } = request;
  const { pathname, query } = parts(url);
  if (pathname === RELOAD_PATH) return reloadRequested(method, options.reload);
  const own = OWN_PAGES.get(pathname);
  const inPath = scopeInPath(pathname, options.path);
  const isTree = own === undefined && inPath === undefined && pathname === TREE_PATH;
  if (isTree && options.tree === undefined)
    return refusal(403, 'trees are off; http_tree_enabled turns them on');
  if (own === undefined && inPath === undefined && !isTree)
    return refusal(404, `no page ${pathname}, the metrics are at ${options.path}`);
  if (!ALLOWED.has(method))
    return refusal(405, `method ${method} is not allowed`, { Allow: 'GET, HEAD' });
  if (own !== undefined)
    return { kind: 'page', reply: () => own(targets(), options, request, query) };
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

function reloadRequested(method: string, reload: OwnPagesOptions['reload']): Requested {
  if (reload === undefined)
    return refusal(403, 'reloads by HTTP are off; http_reload_enabled turns them on');
  if (method !== 'POST') return refusal(405, `method ${method} is not allowed`, { Allow: 'POST' });
  return { kind: 'page', reply: () => reloaded(reload) };
}

const refusal = (...reply: Parameters<typeof textReply>): Requested => ({
  kind: 'page',
  reply: () => of(textReply(...reply)),
});

/** Path and query of a request target, also where a proxy put a scheme and an authority before. */
function parts(target: string): { pathname: string; query: URLSearchParams } {
  const url = target.replace(/^[A-Za-z]+:\/\/[^/?]*/, '');
  const mark = url.indexOf('?');
  const pathname = mark < 0 ? url : url.slice(0, mark);
  return { pathname, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) };
}

// The answer to one scrape. Spec 4.1, 4.2 and 7.
import { map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Exposition, Scope, SyncProgress, Target } from '../../model.js';
import { chooseFormat } from './choose-format.js';
import type { Formats } from './choose-format.js';
import { textReply } from './reply.js';
import type { Reply } from './reply.js';
import { route } from './route.js';

export interface ScrapeOptions {
  readonly formats: Formats;
  /** The current scope of that name. */
  readonly scope: (name: string) => Scope | undefined;
  readonly notReady: (progress: SyncProgress) => string;
}

/** The parameters of a scrape; path and query may both name a scope. */
export interface ScrapeRequest {
  readonly scope: string | undefined;
  readonly query: URLSearchParams;
  /** The Accept header. */
  readonly accept: string | undefined;
  readonly prefersGzip: boolean;
}

/** The scope that a path names behind the base path; undefined for paths that are no scrapes. */
export function scopeInPath(
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

/** Checks in order: routing 400 or 404, readiness 503, scope 404. */
export function scrape(
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
  // There is no such scope, so there is nothing to demand.
  const { isReady, progress } = target.status();
  return of(
    isReady
      ? textReply(404, `no metric scope ${JSON.stringify(name)}`)
      : textReply(503, options.notReady(progress)),
  );
}

function replyWith(
  exposition: Exposition,
  { formats, notReady }: ScrapeOptions,
  scope: Scope | undefined,
  accept: string | undefined,
): Reply {
  if (exposition.kind === 'waiting') return textReply(503, notReady(exposition.status.progress));
  const { selected, internal } = exposition;
  if (scope !== undefined && selected?.length === 0 && internal.length === 0)
    return textReply(404, `scope ${JSON.stringify(scope.name)} matches no rendered metrics`);
  const [text, ...others] = formats;
  const usable = others.filter((each) => each.takes?.(exposition) !== false);
  const format = chooseFormat([text, ...usable], accept);
  const page = format.page(exposition);
  return { status: 200, headers: { Vary: 'Accept, Accept-Encoding' }, page, isCompressible: true };
}

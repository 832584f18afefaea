// The HTTP responder: routes an exchange to a target or to one of our own pages. Spec 4.
import { catchError, defer, map, mergeMap, of } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Target } from '../model.js';
import { listen } from './http-server.js';
import type { Exchange, Listening } from './http-server.js';
import { plainPage, send, textReply } from './reply.js';
import type { Reply } from './reply.js';
import { scopeInPath, scrape } from './scrape.js';
import type { ScrapeOptions } from './scrape.js';
import type { SelfMetrics } from './self-metrics.js';
import type { Sink, SinkEvent } from './sink.js';
import { statusPage } from './status-page.js';

export interface HttpOptions extends ScrapeOptions {
  readonly address: string;
  readonly port: number;
  /** Base scrape path, such as `/metrics`. */
  readonly path: string;
  readonly selfMetrics: SelfMetrics;
  readonly version: string;
  readonly log: (message: string) => void;
}

/** Scrapes that are answered at once; more get a 503, so that memory stays bounded. */
const MOST_IN_FLIGHT = 64;

export function httpSink(options: HttpOptions): Sink {
  return (registry) =>
    defer(() => {
      let inFlight = 0;
      const answer = ({ request, response }: Exchange): Observable<SinkEvent> => {
        inFlight++;
        const reply$ =
          inFlight > MOST_IN_FLIGHT
            ? of(textReply(503, 'too many scrapes at once', { 'Retry-After': '1' }))
            : replyTo(request, registry.targets, options);
        return reply$.pipe(
          catchError((error: unknown) => {
            options.log(`request ${request.url ?? ''} failed: ${String(error)}`);
            return of(textReply(500, 'internal error'));
          }),
          mergeMap((reply) => send(request, response, reply)),
          map((event) => {
            inFlight--;
            return event;
          }),
        );
      };
      return listen(options.address, options.port).pipe(
        mergeMap((event) =>
          event.kind === 'listening' ? of(opened(event, options)) : answer(event),
        ),
      );
    });
}

const opened = ({ authority }: Listening, { path }: HttpOptions): SinkEvent => ({
  kind: 'opened',
  where: `http://${authority}${path}`,
});

const ALLOWED = new Set(['GET', 'HEAD']);

/** Checks in order: path 404, method 405, then what a scrape checks. */
function replyTo(
  { method = '', url = '', headers }: Exchange['request'],
  targets: readonly Target[],
  options: HttpOptions,
): Observable<Reply> {
  const { pathname, query } = parts(url);
  const own = ownPage(pathname, targets, options);
  const inPath = scopeInPath(pathname, options.path);
  if (own === undefined && inPath === undefined)
    return of(textReply(404, `no page ${pathname}, the metrics are at ${options.path}`));
  if (!ALLOWED.has(method))
    return of(textReply(405, `method ${method} is not allowed`, { Allow: 'GET, HEAD' }));
  if (own !== undefined) return own();
  return scrape({ scope: inPath?.scope, query, accept: headers.accept }, targets, options);
}

function ownPage(
  pathname: string,
  targets: readonly Target[],
  options: HttpOptions,
): (() => Observable<Reply>) | undefined {
  switch (pathname) {
    case '/':
      return () => {
        const html = statusPage(targets, options);
        return of({ status: 200, page: plainPage(html, 'text/html; charset=utf-8') });
      };
    case '/-/healthy':
      return () => of(textReply(200, 'healthy'));
    case '/-/ready':
      return () => of(readiness(targets));
    case '/-/metrics':
      return () =>
        defer(() => options.selfMetrics.text(targets)).pipe(
          map((text) => ({ status: 200, page: plainPage(text, options.selfMetrics.contentType) })),
        );
    default:
      return undefined;
  }
}

/** Ready when every target is. */
function readiness(targets: readonly Target[]): Reply {
  const waiting = targets.map((target) => target.status()).filter(({ isReady }) => !isReady);
  if (waiting.length === 0) return textReply(200, 'ready');
  const [first] = waiting;
  const reason = first?.progress.reason ?? '';
  return textReply(503, `${waiting.length} of ${targets.length} targets not ready: ${reason}`);
}

/** Path and query of a request target, also where a proxy put a scheme and an authority before. */
function parts(target: string): { pathname: string; query: URLSearchParams } {
  const url = target.replace(/^[A-Za-z]+:\/\/[^/?]*/, '');
  const mark = url.indexOf('?');
  const pathname = mark < 0 ? url : url.slice(0, mark);
  return { pathname, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) };
}

// The HTTP responder: routes an exchange to a target or to one of our own pages. Spec 4.
import { catchError, defer, finalize, fromEvent, mergeMap, of, share, take, takeUntil } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Target } from '../../model.js';
import { listen } from './http-server.js';
import type { Exchange, Listening } from './http-server.js';
import { OWN_PAGES } from './own-pages.js';
import type { OwnPagesOptions } from './own-pages.js';
import { send, textReply } from './reply.js';
import type { Reply } from './reply.js';
import { scopeInPath, scrape } from './scrape.js';
import type { ScrapeOptions } from './scrape.js';
import type { Sink, SinkEvent } from '../sink.js';
import { zipper } from './zipper.js';

export interface HttpOptions extends ScrapeOptions, OwnPagesOptions {
  readonly address: string;
  readonly port: number;
  readonly log: (message: string) => void;
}

/** What a request is, and what makes the answer. */
interface Asked {
  readonly what: 'scrape' | 'request';
  readonly reply: () => Observable<Reply>;
}

/** Most of each kind at once; more get a 503, so that memory stays bounded. */
const MOST_IN_FLIGHT = 64;

export function httpSink(options: HttpOptions): Sink {
  return (registry) =>
    defer(() => {
      // Apart, so that slow scrapes never keep out a probe.
      const inFlight = { scrape: 0, request: 0 };
      const zip = zipper();
      const answer = ({ request, response }: Exchange): Observable<SinkEvent> => {
        const { socket } = request;
        // Who went away waits for nothing, and takes nobody's place.
        const gone$ = socket.destroyed ? of(true) : fromEvent(socket, 'close');
        const { what, reply } = askedBy(request, registry.targets, options);
        inFlight[what]++;
        const reply$ =
          inFlight[what] > MOST_IN_FLIGHT
            ? of(textReply(503, `too many ${what}s at once`, { 'Retry-After': '1' }))
            : defer(reply);
        const failed = (error: unknown): Observable<Reply> => {
          options.log(`request ${request.url ?? ''} failed: ${String(error)}`);
          return of(textReply(500, 'internal error'));
        };
        const sendZipped = (each: Reply): Observable<SinkEvent> =>
          zip(each, request.headers['accept-encoding']).pipe(
            catchError(failed),
            mergeMap((zipped) => send(request, response, zipped)),
            // Like a response that is being sent, one that is being compressed is not cut.
            share({ resetOnRefCountZero: false }),
          );
        const awaited$ = reply$.pipe(take(1), takeUntil(gone$));
        return awaited$.pipe(
          catchError(failed),
          mergeMap(sendZipped),
          finalize(() => {
            inFlight[what]--;
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
function askedBy(
  request: Exchange['request'],
  targets: readonly Target[],
  options: HttpOptions,
): Asked {
  const { method = '', url = '', headers } = request;
  const { pathname, query } = parts(url);
  const own = OWN_PAGES.get(pathname);
  const inPath = scopeInPath(pathname, options.path);
  if (own === undefined && inPath === undefined)
    return refused(404, `no page ${pathname}, the metrics are at ${options.path}`);
  if (!ALLOWED.has(method))
    return refused(405, `method ${method} is not allowed`, { Allow: 'GET, HEAD' });
  if (own !== undefined) return { what: 'request', reply: () => own(targets, options, request) };
  const wanted = { scope: inPath?.scope, query, accept: headers.accept };
  return { what: 'scrape', reply: () => scrape(wanted, targets, options) };
}

const refused = (...reply: Parameters<typeof textReply>): Asked => ({
  what: 'request',
  reply: () => of(textReply(...reply)),
});

/** Path and query of a request target, also where a proxy put a scheme and an authority before. */
function parts(target: string): { pathname: string; query: URLSearchParams } {
  const url = target.replace(/^[A-Za-z]+:\/\/[^/?]*/, '');
  const mark = url.indexOf('?');
  const pathname = mark < 0 ? url : url.slice(0, mark);
  return { pathname, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)) };
}

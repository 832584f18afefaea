// The HTTP responder: serves scrapes and the exporter's own pages. Spec 4.
import { EMPTY, catchError, defer, finalize, map, mergeMap, of, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { admission } from './admission.js';
import { deadline } from './deadline.js';
import { httpMetrics } from './http-metrics.js';
import { listen, turnAway } from './http-server.js';
import type { Exchange, ListenerOptions, Listening } from './http-server.js';
import type { OwnPagesOptions } from './own-pages.js';
import { textReply } from './reply.js';
import type { Reply, Sent } from './reply.js';
import { treeResponder } from './pages/tree.js';
import { TREE_PATH, requested } from './requested.js';
import { failed, responder } from './responder.js';
import type { ScrapeOptions } from './scrape.js';
import type { Sink, SinkEvent } from '../sink.js';

export interface HttpOptions
  extends ListenerOptions, ScrapeOptions, Omit<OwnPagesOptions, 'tree' | 'treePath'> {
  /** Whether there are pages of trees. */
  readonly hasTrees: boolean;
  /** Whether trees show texts that no row reads. */
  readonly showsUnreadTexts: () => boolean;
  /** How long one response may take, from its request to its last byte. */
  readonly responseMs: number;
  /** How many scrapes are served at once. */
  readonly maxScrapes: number;
  readonly log: (message: string) => void;
}

/** How many of the exporter's own pages are served at once. */
const MAX_PAGES = 64;

export function httpSink(options: HttpOptions): Sink {
  const { responseMs, maxScrapes, selfMetrics, guard, log } = options;
  const metrics = httpMetrics(selfMetrics);
  return (registry) =>
    defer(() => {
      const admit = admission({ scrape: maxScrapes, page: MAX_PAGES });
      const respond = responder(log);
      const pages = { ...options, ...treeOf(options) };
      const answer = (exchange: Exchange): Observable<Sent> => {
        const { request } = exchange;
        const { kind, reply } = requested(request, () => registry.targets, pages);
        const headers = guard.headers();
        const answered = (stranger?: Reply): Observable<Sent> =>
          admit(request.socket, kind, (crowded) => {
            if (crowded !== undefined) return respond(exchange, of(tooMany(crowded)), headers);
            return respond(exchange, stranger === undefined ? defer(reply) : of(stranger), headers);
          });
        const answer$ =
          guard.refusal === undefined
            ? answered()
            : judged(
                guard.refusal(request).pipe(
                  // A failure of the guard refuses this request, and disturbs no other.
                  catchError((error: unknown) => of(failed(request, error, log))),
                ),
                exchange,
              ).pipe(mergeMap((stranger) => answered(stranger)));
        return answer$.pipe(deadline(responseMs, request.socket));
      };
      const counted = (sent: Sent): SinkEvent => {
        metrics.count(sent);
        return served(sent);
      };
      return listen(options).pipe(
        mergeMap((event): Observable<SinkEvent> => {
          if (event.kind === 'listening') return of(opened(event, options));
          if (event.kind === 'exchange') return answer(event).pipe(map(counted));
          metrics.dropped();
          return EMPTY;
        }),
      );
    });
}

function treeOf(options: HttpOptions): Pick<OwnPagesOptions, 'tree' | 'treePath'> {
  if (!options.hasTrees || options.path === TREE_PATH)
    return { tree: undefined, treePath: undefined };
  return { tree: treeResponder({ ...options, treePath: TREE_PATH }), treePath: TREE_PATH };
}

/** The decision of the guard. A request that still waits for it when the sink ends is turned away. */
const judged = (
  refusal$: Observable<Reply | undefined>,
  { response }: Exchange,
): Observable<Reply | undefined> =>
  defer(() => {
    let isJudged = false;
    return refusal$.pipe(
      tap(() => {
        isJudged = true;
      }),
      finalize(() => {
        if (!isJudged) turnAway(response);
      }),
    );
  });

const tooMany = (text: string) => textReply(503, text, { 'Retry-After': '1' });

const opened = ({ origin }: Listening, { path }: HttpOptions): SinkEvent => ({
  kind: 'opened',
  where: `${origin}${path}`,
});

const served = ({ status, bytes, isCut }: Sent): SinkEvent => ({
  kind: 'served',
  bytes,
  outcome: isCut ? 'cut' : status < 400 ? 'delivered' : 'refused',
});

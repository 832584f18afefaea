// The HTTP responder: routes each request, and counts the answers. Spec 4.
import type { IncomingMessage } from 'node:http';
import {
  EMPTY,
  catchError,
  defer,
  finalize,
  fromEvent,
  isObservable,
  map,
  mergeMap,
  of,
  share,
  take,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import type { SelfMetrics } from '../self-metrics.js';
import type { Sink, SinkEvent } from '../sink.js';
import { admission } from './admission.js';
import { deadline, listen, turnAway } from './http-server.js';
import type { Exchange, ListenerOptions, Listening } from './http-server.js';
import type { OwnPagesOptions } from './own-pages.js';
import { treeResponder } from './pages/tree.js';
import { encoded, send, textReply } from './reply.js';
import type { EncodedReply, HeaderFields, Reply, Sent } from './reply.js';
import { TREE_PATH, requested } from './requested.js';
import type { ScrapeOptions } from './requested.js';

// The HTTP responder's own counters.
interface HttpMetrics {
  /** Counts a response that is over. */
  readonly count: (sent: Sent) => void;
  /** Counts a connection that was closed to make room for another. */
  readonly dropped: () => void;
}

/** Adds its counters to those of the exporter. */
function httpMetrics(metrics: Pick<SelfMetrics, 'counter'>): HttpMetrics {
  const responses = metrics.counter(
    'shm_exporter_http_responses_total',
    'HTTP responses by status code.',
    ['code'],
  );
  const bytes = metrics.counter(
    'shm_exporter_http_sent_bytes_total',
    'Bytes of response bodies that were sent.',
  );
  const saved = metrics.counter(
    'shm_exporter_http_saved_bytes_total',
    'Bytes of response bodies that were not sent, because gzip made them smaller.',
  );
  const cut = metrics.counter(
    'shm_exporter_http_cut_responses_total',
    'HTTP responses whose client went away or was too slow to get all of them.',
  );
  const dropped = metrics.counter(
    'shm_exporter_http_dropped_connections_total',
    'Idle connections that were closed to make room for new ones.',
  );
  return {
    count: (sent) => {
      responses(1, { code: String(sent.status) });
      bytes(sent.bytes);
      saved(sent.saved);
      cut(Number(sent.isCut));
    },
    dropped: () => {
      dropped(1);
    },
  };
}

/** The reply to a request that could not be answered as it should. */
function failed(
  { url = '' }: IncomingMessage,
  error: unknown,
  log: (message: string) => void,
): Reply {
  log(`request ${url} failed: ${String(error)}`);
  return textReply(500, 'internal error');
}

/**
 * Makes a function that emits when the response is over, and nothing if the client left before it began. Its
 * `headers` are those of every answer.
 */
function responder(
  log: (message: string) => void,
): (exchange: Exchange, reply$: Observable<Reply>, headers: HeaderFields) => Observable<Sent> {
  return ({ request, response }, reply$, headers) => {
    const { socket } = request;
    const acceptEncoding = request.headers['accept-encoding'];
    const instead = (error: unknown): Observable<EncodedReply> => {
      const reply = failed(request, error, log);
      return of({ ...reply, body: reply.page, saved: 0 });
    };
    const sent = (reply: EncodedReply): Observable<Sent> => send(request, response, reply, headers);
    // Like a response that is being sent, one that is being compressed is not cut.
    const sentLater = (compressed$: Observable<EncodedReply>): Observable<Sent> =>
      compressed$.pipe(catchError(instead), mergeMap(sent), share({ resetOnRefCountZero: false }));
    // A client that went away gives its place to others at once.
    const gone$ = socket.destroyed ? of(true) : fromEvent(socket, 'close');
    const awaited$ = reply$.pipe(take(1), takeUntil(gone$));
    return awaited$.pipe(
      map((reply) => encoded(reply, acceptEncoding)),
      catchError(instead),
      mergeMap((reply) => (isObservable(reply) ? sentLater(reply) : sent(reply))),
    );
  };
}

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

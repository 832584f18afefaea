// The HTTP sink: answers each request and counts the responses (spec 4).
import {
  EMPTY,
  catchError,
  defer,
  finalize,
  fromEvent,
  map,
  mergeMap,
  of,
  share,
  take,
  takeUntil,
  tap,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { monotonicMs } from '../../clock.js';
import type { SelfMetrics } from '../self-metrics.js';
import type { Sink, SinkEvent } from '../sink.js';
import { admission } from './admission.js';
import { deadline, listen, refuseDuringShutdown } from './http-server.js';
import type { IncomingRequest, ListenerOptions, Listening } from './http-server.js';
import { dispatch } from './dispatch.js';
import type { EndpointOptions } from './dispatch.js';
import { TREE_PATH, treeResponder } from './pages/tree-page.js';
import { STATUSES, encoded, plain, send, textReply } from './reply.js';
import type { HeaderFields, Reply, Sent } from './reply.js';
import { HANDSHAKE_ERRORS } from './tls.js';
import type { FailedHandshake, HandshakeError } from './tls.js';

function httpMetrics(metrics: Pick<SelfMetrics, 'counter' | 'histogram'>, hasTls: boolean) {
  const responses = metrics.counter(
    'shm_exporter_http_responses_total',
    'HTTP responses by status code.',
    { code: STATUSES.map(String) },
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
    'HTTP responses that were cut off because the client left or was too slow.',
  );
  const dropped = metrics.counter(
    'shm_exporter_http_dropped_connections_total',
    'Idle connections that were closed to make room for new ones.',
  );
  const scrapes = metrics.histogram(
    'shm_exporter_http_scrape_duration_seconds',
    'Time from the request of a scrape to the end of its response.',
  );
  const handshakes = !hasTls
    ? undefined
    : metrics.counter(
        'shm_exporter_tls_handshake_errors_total',
        'TLS connections that failed before their first request, by reason.',
        { reason: Object.keys(HANDSHAKE_ERRORS) },
      );
  return {
    count: (sent: Sent) => {
      responses(1, { code: String(sent.status) });
      bytes(sent.bytes);
      saved(sent.saved);
      cut(Number(sent.isCut));
    },
    scraped: scrapes,
    /** Counts a connection that the server closed to admit a new connection. */
    dropped: () => {
      dropped(1);
    },
    handshakeFailed: (reason: HandshakeError) => handshakes?.(1, { reason }),
  };
}

/**
 * Sends a reply, and emits when the response has ended. Emits nothing if the connection closes before the reply.
 * @param headers headers of every response
 * @param failed makes the reply after an unexpected error
 */
function respond(
  { request, response }: IncomingRequest,
  reply$: Observable<Reply>,
  headers: HeaderFields,
  failed: (error: unknown) => Reply,
): Observable<Sent> {
  const { socket } = request;
  // If the connection closes, free the permit for other clients at once.
  const closed$ = socket.destroyed ? of(true) : fromEvent(socket, 'close');
  const awaited$ = reply$.pipe(
    take(1),
    catchError((error: unknown) => of(failed(error))),
    takeUntil(closed$),
  );
  return awaited$.pipe(
    mergeMap((reply) =>
      // Unsubscribing interrupts neither the compression nor the sending of a response.
      defer(() => encoded(reply, request.headers['accept-encoding'])).pipe(
        catchError((error: unknown) => of(plain(failed(error)))),
        mergeMap((each) => send(request, response, each, headers)),
        share({ resetOnRefCountZero: false }),
      ),
    ),
  );
}

export interface HttpOptions extends ListenerOptions, Omit<EndpointOptions, 'tree'> {
  readonly hasTrees: boolean;
  /** Whether the tree page shows string values that no catalogue row reads. */
  readonly showsUnreadTexts: () => boolean;
  /** The command that dumps the segment of a server key, for the tree page of a dead publisher. */
  readonly dumpCommand: (serverKey: string) => string;
  /** The longest time from the request to the last byte of its response, in milliseconds. */
  readonly responseMs: number;
  readonly maxScrapes: number;
  readonly log: (message: string) => void;
}

/** The maximum number of concurrent requests that are no scrapes. */
const MAX_OTHERS = 64;

export function httpSink(options: HttpOptions): Sink {
  const { responseMs, maxScrapes, selfMetrics, guard, log } = options;
  const metrics = httpMetrics(selfMetrics, guard.tls !== undefined);
  return (registry) =>
    defer(() => {
      const admit = admission({ scrapes: maxScrapes, others: MAX_OTHERS }, responseMs);
      // If the base scrape path is also `/tree`, the scrape takes precedence.
      const hasTrees = options.hasTrees && options.path !== TREE_PATH;
      const tree = hasTrees ? treeResponder(options) : undefined;
      const answer = (incoming: IncomingRequest): Observable<Sent> => {
        const { request } = incoming;
        const startedMs = monotonicMs();
        const { isScrape, reply } = dispatch(request, () => registry.targets, { ...options, tree });
        const headers = guard.headers();
        const failed = (error: unknown): Reply => {
          log(`request ${request.url} failed: ${String(error)}`);
          return textReply(500, 'internal error');
        };
        // An error of the guard must not end the sink.
        const refusal$ = guard
          .refusal(request)
          .pipe(catchError((error: unknown) => of(failed(error))));
        return decided(refusal$, incoming).pipe(
          mergeMap((refusal) =>
            admit(request.socket, isScrape, (tooMany) => {
              const refused =
                tooMany === undefined ? refusal : textReply(503, tooMany, { 'Retry-After': '1' });
              const reply$ = refused === undefined ? defer(reply) : of(refused);
              return respond(incoming, reply$, headers, failed);
            }),
          ),
          deadline(responseMs, request.socket),
          tap(() => {
            if (isScrape) metrics.scraped(monotonicMs() - startedMs);
          }),
        );
      };
      const counted = (sent: Sent): SinkEvent => {
        metrics.count(sent);
        return served(sent);
      };
      return listen(options).pipe(
        mergeMap((event): Observable<SinkEvent> => {
          switch (event.kind) {
            case 'listening':
              return of(opened(event, options));
            case 'request':
              return answer(event).pipe(map(counted));
            case 'unreadable':
              return of(counted({ status: event.status, bytes: 0, saved: 0, isCut: false }));
            case 'handshakeFailed':
              metrics.handshakeFailed(event.failed.error);
              return of(refused(event.failed));
            case 'dropped':
              metrics.dropped();
              return EMPTY;
          }
        }),
      );
    });
}

/** Emits the decision of the guard. If the sink ends before the decision, answers the request with 503. */
const decided = (
  refusal$: Observable<Reply | undefined>,
  { response }: IncomingRequest,
): Observable<Reply | undefined> =>
  defer(() => {
    let isDecided = false;
    return refusal$.pipe(
      tap(() => {
        isDecided = true;
      }),
      finalize(() => {
        if (!isDecided) refuseDuringShutdown(response);
      }),
    );
  });

const opened = ({ origin }: Listening, { path }: HttpOptions): SinkEvent => ({
  kind: 'opened',
  where: `${origin}${path}`,
});

const refused = ({ error, detail, address = 'an unknown address' }: FailedHandshake): SinkEvent => {
  const more = detail === '' ? '' : ` (${detail})`;
  return { kind: 'refused', address, reason: `${HANDSHAKE_ERRORS[error]}${more}` };
};

const served = ({ status, bytes, isCut }: Sent): SinkEvent => ({
  kind: 'served',
  bytes,
  outcome: isCut ? 'cut' : status < 400 ? 'delivered' : 'refused',
});

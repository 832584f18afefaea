// The HTTP responder: answers each exchange with a scrape or one of its own pages. Spec 4.
import {
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
import { replyCompressor } from './compressed-reply.js';
import { httpMetrics } from './http-metrics.js';
import { listen } from './http-server.js';
import type { Exchange, Listening } from './http-server.js';
import type { OwnPagesOptions } from './own-pages.js';
import { send, textReply } from './reply.js';
import type { Reply, Sent } from './reply.js';
import { requested } from './requested.js';
import type { ScrapeOptions } from './scrape.js';
import type { Sink, SinkEvent } from '../sink.js';

export interface HttpOptions extends ScrapeOptions, OwnPagesOptions {
  readonly address: string;
  readonly port: number;
  readonly log: (message: string) => void;
}

/** Most of each kind at once; more get a 503, so that memory stays bounded. */
const MAX_IN_FLIGHT = 64;

export function httpSink(options: HttpOptions): Sink {
  const count = httpMetrics(options.selfMetrics);
  return (registry) =>
    defer(() => {
      // Apart, so that slow scrapes never keep out a probe.
      const inFlight = { scrape: 0, page: 0 };
      const compressed = replyCompressor();
      const answer = ({ request, response }: Exchange): Observable<Sent> => {
        const { socket } = request;
        // A client that went away waits for nothing, and takes nobody's place.
        const gone$ = socket.destroyed ? of(true) : fromEvent(socket, 'close');
        const { kind, reply } = requested(request, registry.targets, options);
        inFlight[kind]++;
        const reply$ =
          inFlight[kind] > MAX_IN_FLIGHT
            ? of(textReply(503, `too many ${kind}s at once`, { 'Retry-After': '1' }))
            : defer(reply);
        const failed = (error: unknown): Observable<Reply> => {
          options.log(`request ${request.url ?? ''} failed: ${String(error)}`);
          return of(textReply(500, 'internal error'));
        };
        const sendCompressed = (each: Reply): Observable<Sent> =>
          compressed(each, request.headers['accept-encoding']).pipe(
            catchError(failed),
            mergeMap((smaller) => send(request, response, smaller)),
            // Like a response that is being sent, one that is being compressed is not cut.
            share({ resetOnRefCountZero: false }),
          );
        const awaited$ = reply$.pipe(take(1), takeUntil(gone$));
        return awaited$.pipe(
          catchError(failed),
          mergeMap(sendCompressed),
          finalize(() => {
            inFlight[kind]--;
          }),
        );
      };
      const answered = (exchange: Exchange) => answer(exchange).pipe(tap(count), map(servedBy));
      return listen(options.address, options.port).pipe(
        mergeMap((event) =>
          event.kind === 'listening' ? of(opened(event, options)) : answered(event),
        ),
      );
    });
}

const opened = ({ authority }: Listening, { path }: HttpOptions): SinkEvent => ({
  kind: 'opened',
  where: `http://${authority}${path}`,
});

const servedBy = ({ status, bytes, isCut }: Sent): SinkEvent => ({
  kind: 'served',
  bytes,
  outcome: isCut ? 'cut' : status < 400 ? 'delivered' : 'refused',
});

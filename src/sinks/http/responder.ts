// Turns a reply into a response that was sent, compressed where the client prefers that.
import type { IncomingMessage } from 'node:http';
import {
  catchError,
  fromEvent,
  isObservable,
  map,
  mergeMap,
  of,
  share,
  take,
  takeUntil,
} from 'rxjs';
import type { Observable } from 'rxjs';
import { replyCompressor } from './compressed-reply.js';
import type { Exchange } from './http-server.js';
import { send, textReply } from './reply.js';
import type { HeaderFields, Reply, Sent } from './reply.js';

/** The reply to a request that could not be answered as it should. */
export function failed(
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
export function responder(
  log: (message: string) => void,
): (exchange: Exchange, reply$: Observable<Reply>, headers: HeaderFields) => Observable<Sent> {
  const compressed = replyCompressor();
  return ({ request, response }, reply$, headers) => {
    const { socket } = request;
    const instead = (error: unknown): Observable<Reply> => of(failed(request, error, log));
    const sent = (reply: Reply): Observable<Sent> => send(request, response, reply, headers);
    // Like a response that is being sent, one that is being compressed is not cut.
    const sentLater = (compressed$: Observable<Reply>): Observable<Sent> =>
      compressed$.pipe(catchError(instead), mergeMap(sent), share({ resetOnRefCountZero: false }));
    // A client that went away gives its place to others at once.
    const gone$ = socket.destroyed ? of(true) : fromEvent(socket, 'close');
    const awaited$ = reply$.pipe(take(1), takeUntil(gone$));
    return awaited$.pipe(
      map((reply) => compressed(reply, request.headers['accept-encoding'])),
      catchError(instead),
      mergeMap((reply) => (isObservable(reply) ? sentLater(reply) : sent(reply))),
    );
  };
}

// Replies and the function `send`, which emits when the response has ended.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observable, from, map, of } from 'rxjs';
import { GzipText } from '../../exposition/compress/gzip.js';
import type { Body, Page } from '../../model.js';
import { prefersGzip } from './choose-format.js';

/** The longest time that a response may go without progress. */
const MAX_STALL_MS = 30_000;

export const STATUSES = [200, 400, 401, 403, 404, 405, 408, 429, 431, 500, 503] as const;

export type Status = (typeof STATUSES)[number];

export type HeaderFields = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: Status;
  readonly headers?: HeaderFields;
  readonly page: Page;
}

/** A reply with the body to send. The body is in a content coding that the client accepts, compressed or not. */
export interface EncodedReply extends Reply {
  readonly body: Body;
  /** The bytes that compression saved; never negative. */
  readonly saved: number;
}

/** The result of a response that has ended. */
export interface Sent {
  readonly status: Status;
  /** The size of the body in bytes; 0 if the exporter could not write all of it. */
  readonly bytes: number;
  readonly saved: number;
  /** Whether the connection ended before the exporter had written the whole body. */
  readonly isCut: boolean;
}

/** A reply with a short text and a line feed, for terminals. */
export function textReply(status: Status, text: string, headers: HeaderFields = {}): Reply {
  return { status, headers, page: plainPage(`${text}\n`, 'text/plain; charset=utf-8') };
}

/**
 * A page that is never compressed, because it is short, or because it contains text from the client. In the second
 * case, the compressed size would reveal other content of the page.
 */
export function plainPage(text: string, contentType: string): Page {
  const body = Buffer.from(text);
  return { contentType, buffers: [body], bytes: body.length, release: () => undefined };
}

export function compressiblePage(text: string, contentType: string): Page {
  const page = plainPage(text, contentType);
  return { ...page, gzip: () => new GzipText(page).body([], page.release) };
}

/** The smallest body that is compressed, in bytes. Smaller bodies fit into one packet anyway. */
const MIN_BYTES = 1024;

/** Emits the reply, with a gzip body if the Accept-Encoding header of the client prefers gzip. */
export function encoded(
  reply: Reply,
  acceptEncoding: string | undefined,
): Observable<EncodedReply> {
  const { page } = reply;
  const isLong = page.bytes >= MIN_BYTES;
  const gzip = isLong && prefersGzip(acceptEncoding) ? page.gzip?.() : undefined;
  if (gzip === undefined) return of(plain(reply));
  const headers = { ...reply.headers, 'Content-Encoding': 'gzip' };
  const withBody = (body: Body): EncodedReply => ({
    ...reply,
    headers,
    body,
    saved: Math.max(0, page.bytes - body.bytes),
  });
  return (gzip instanceof Promise ? from(gzip) : of(gzip)).pipe(map(withBody));
}

export const plain = (reply: Reply): EncodedReply => ({ ...reply, body: reply.page, saved: 0 });

/**
 * Sends a reply. Emits once when the response has ended. Unsubscribing does not cut the response.
 * @param common headers of every response; headers of the reply replace them
 */
export function send(
  { method, socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, page: { contentType }, body, saved }: EncodedReply,
  common: HeaderFields,
): Observable<Sent> {
  return new Observable((subscriber) => {
    const buffers = method === 'HEAD' ? [] : body.buffers;
    let isComplete = buffers.length === 0;
    // Listen to the response and the socket. If the connection ends, a response that is queued behind another one
    // emits no `close`. The socket may stay open after the response.
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      response.off('close', end);
      socket.off('close', end);
      body.release();
      const hasBody = isComplete && buffers.length > 0;
      subscriber.next({
        status,
        bytes: hasBody ? body.bytes : 0,
        saved: hasBody ? saved : 0,
        isCut: !isComplete,
      });
      subscriber.complete();
    };
    if (socket.destroyed) {
      end();
      return;
    }
    response.once('close', end);
    socket.once('close', end);
    response.setTimeout(MAX_STALL_MS, () => response.destroy());
    response.writeHead(status, {
      'Content-Type': contentType,
      'Content-Length': body.bytes,
      'Cache-Control': 'no-store',
      ...common,
      ...headers,
    });
    if (buffers.length === 0) {
      response.end();
      return;
    }
    // End the response only after the last write. A closing server destroys the connection of an ended response, even
    // if bytes are still unsent.
    const allWritten = (error?: Error | null): void => {
      // A destroyed connection completes pending writes without an error.
      if (error || socket.destroyed) return;
      isComplete = true;
      response.end();
    };
    // Node.js sends all buffers together, so the callback of the last buffer is enough. Without the cork, Node.js
    // would send the buffers only after the current synchronous work.
    response.cork();
    let left = buffers.length;
    for (const buffer of buffers) response.write(buffer, --left === 0 ? allWritten : undefined);
    response.uncork();
  });
}

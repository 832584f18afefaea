// Sends one reply and reports when the response is over.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observable } from 'rxjs';
import type { Page } from '../../model.js';

/** How long a client may read nothing of its response. */
const STUCK_MS = 30_000;

export type HeaderFields = Readonly<Record<string, string>>;

export interface Reply {
  readonly status: number;
  readonly headers?: HeaderFields;
  readonly page: Page;
  /** Whether it is worth compressing for clients that accept that. */
  readonly isCompressible?: boolean | undefined;
  /** Bytes that compressing saved; never negative. */
  readonly saved?: number | undefined;
}

/** A response that is over. */
export interface Sent {
  readonly status: number;
  /** Bytes of the body, if all of it was written to the connection; else 0. */
  readonly bytes: number;
  readonly saved: number;
  /** Whether the connection ended before all of it was written. */
  readonly isCut: boolean;
}

/** A short text, with the line feed that terminals need. */
export function textReply(status: number, text: string, headers: HeaderFields = {}): Reply {
  return { status, headers, page: plainPage(`${text}\n`, 'text/plain; charset=utf-8') };
}

export function plainPage(text: string, contentType: string): Page {
  const body = Buffer.from(text);
  return { contentType, pieces: [body], bytes: body.length, release: () => undefined };
}

/**
 * Emits once when the response is over, sent or not; ending the subscription does not cut it.
 * @param common headers of every answer; those of the reply replace them
 */
export function send(
  { method, socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, page, saved = 0 }: Reply,
  common: HeaderFields,
): Observable<Sent> {
  return new Observable((subscriber) => {
    const pieces = method === 'HEAD' ? [] : page.pieces;
    let isWhole = pieces.length === 0;
    let isOver = false;
    // A response that queues behind another on its connection does not report the connection's end;
    // another reports it while the connection does, so both are listened to.
    const over = () => {
      if (isOver) return;
      isOver = true;
      response.off('close', over);
      socket.off('close', over);
      page.release();
      const hasBody = isWhole && pieces.length > 0;
      subscriber.next({
        status,
        bytes: hasBody ? page.bytes : 0,
        saved: hasBody ? saved : 0,
        isCut: !isWhole,
      });
      subscriber.complete();
    };
    if (socket.destroyed) {
      over();
      return;
    }
    response.once('close', over);
    socket.once('close', over);
    response.setTimeout(STUCK_MS, () => response.destroy());
    response.writeHead(status, {
      'Content-Type': page.contentType,
      'Content-Length': page.bytes,
      'Cache-Control': 'no-store',
      ...common,
      ...headers,
    });
    if (pieces.length === 0) {
      response.end();
      return;
    }
    // Ended only when all is written: a closing server truncates responses that have ended.
    const allWritten = (error?: Error | null): void => {
      // A destroyed connection reports its pending writes without an error.
      if (error || socket.destroyed) return;
      isWhole = true;
      response.end();
    };
    // Written together, so one callback tells as much as one for each; and at once: without a cork, Node waits
    // until the synchronous work of this turn is over.
    response.cork();
    let left = pieces.length;
    for (const piece of pieces) response.write(piece, --left === 0 ? allWritten : undefined);
    response.uncork();
  });
}

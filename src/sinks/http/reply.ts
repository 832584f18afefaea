// Sends one answer and tells when it is over.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Observable } from 'rxjs';
import type { Page } from '../../model.js';
import type { SinkEvent } from '../sink.js';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly page: Page;
  /** Whether it is worth compressing for clients that like that. */
  readonly mayZip?: boolean;
  /** Bytes that compressing saved; never negative. */
  readonly saved?: number;
}

/** A short text, with the line feed that terminals like. */
export function textReply(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, headers, page: plainPage(`${text}\n`, 'text/plain; charset=utf-8') };
}

export function plainPage(text: string, contentType: string): Page {
  const body = Buffer.from(text);
  return { contentType, pieces: [body], bytes: body.length, release: () => undefined };
}

/** Emits once when the response is over, sent or not; ending the subscription does not cut it. */
export function send(
  { method, socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, page, saved = 0 }: Reply,
): Observable<SinkEvent> {
  return new Observable((subscriber) => {
    const sent = method === 'HEAD' ? { bytes: 0, saved: 0 } : { bytes: page.bytes, saved };
    let isOver = false;
    // A response that queues behind another on its connection never tells of the connection's end;
    // another tells of it while the connection does, so that both are heard.
    const over = () => {
      if (isOver) return;
      isOver = true;
      response.off('close', over);
      socket.off('close', over);
      page.release();
      subscriber.next({ kind: 'served', status, ...sent });
      subscriber.complete();
    };
    if (socket.destroyed) {
      over();
      return;
    }
    response.once('close', over);
    socket.once('close', over);
    response.writeHead(status, {
      'Content-Type': page.contentType,
      'Content-Length': page.bytes,
      'Cache-Control': 'no-store',
      ...headers,
    });
    if (method === 'HEAD') {
      response.end();
      return;
    }
    // Ended only when all is written: a server that closes cuts ended responses short.
    const last = page.pieces.length - 1;
    page.pieces.forEach((piece, index) => {
      response.write(piece, () => {
        if (index === last) response.end();
      });
    });
  });
}

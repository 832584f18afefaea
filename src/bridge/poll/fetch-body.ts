// One GET for a component's tree: the body as it arrives, decompressed and bounded.
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Transform } from 'node:stream';
import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { bodyDecoder } from './body-decoder.js';
import { checkAnswer, tooLarge } from './check-answer.js';
import { PollFailure } from './poll-failure.js';
import { requestFailure } from './request-failure.js';

export interface Endpoint {
  /** The full address of the view. */
  readonly url: URL;
  /** True if the certificate of an https address must be valid. */
  readonly tlsVerify: boolean;
  /** Certificates in PEM to trust instead of the well-known authorities. */
  readonly ca: string | undefined;
  /** True to request a compressed body. */
  readonly deflate: boolean;
  /** From the look-up of the name to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  readonly maxBodyBytes: number;
}

/** A piece of the body. */
export interface Chunk {
  readonly bytes: Uint8Array;
  /** Bytes of the body received so far, compressed or not. */
  readonly received: number;
}

/**
 * Emits the body of the answer to one GET. Redirects are not followed, and the connection is not
 * reused; unsubscribing closes it at once. Fails with a PollFailure.
 * @param securityKey empty for none
 * @param lookup finds the addresses of a name; default: the system's
 */
export function fetchBody(
  endpoint: Endpoint,
  securityKey: string,
  lookup?: LookupFunction,
): Observable<Chunk> {
  const { url, connectTimeoutMs, maxBodyBytes } = endpoint;
  return new Observable((subscriber) => {
    const fail = (error: unknown): void => {
      subscriber.error(requestFailure(error));
    };
    const request = send(endpoint, securityKey, lookup);
    const patience = setTimeout(() => {
      fail(new PollFailure('timeout', `no connection within ${connectTimeoutMs} ms`));
    }, connectTimeoutMs);
    request.once('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        clearTimeout(patience);
      });
    });
    // Keep a listener: the request may emit an error even after its end.
    request.on('error', fail);
    request.on('response', (response) => {
      response.on('error', fail);
      try {
        checkAnswer(response, { hasKey: securityKey !== '', maxBodyBytes });
        forward(response, maxBodyBytes, subscriber);
      } catch (error) {
        fail(error);
      }
    });
    request.end();
    return () => {
      clearTimeout(patience);
      request.destroy();
    };
  });
}

function send(endpoint: Endpoint, securityKey: string, lookup?: LookupFunction): ClientRequest {
  const { url, tlsVerify, ca, deflate } = endpoint;
  const options: RequestOptions = {
    method: 'GET',
    agent: false,
    lookup,
    headers: {
      accept: 'application/json',
      'accept-encoding': deflate ? 'deflate' : 'identity',
      connection: 'close',
      ...(securityKey !== '' && { 'security-key': securityKey }),
    },
  };
  if (url.protocol !== 'https:') return httpRequest(url, options);
  return httpsRequest(url, {
    ...options,
    rejectUnauthorized: tlsVerify,
    ...(ca !== undefined && { ca }),
  });
}

/** Emits the decoded body, or its failure. */
function forward(
  response: IncomingMessage,
  maxBodyBytes: number,
  subscriber: Subscriber<Chunk>,
): void {
  let decoder: Transform | undefined;
  let received = 0;
  let decoded = 0;
  const fail = (error: unknown): void => {
    subscriber.error(requestFailure(error));
  };
  const start = (first: Uint8Array): Transform => {
    const made = bodyDecoder(response.headers['content-encoding'], first);
    made.on('error', fail);
    made.on('data', (bytes: Uint8Array) => {
      decoded += bytes.length;
      if (decoded > maxBodyBytes) fail(tooLarge(maxBodyBytes));
      else subscriber.next({ bytes, received });
    });
    made.once('end', () => {
      subscriber.complete();
    });
    subscriber.add(() => {
      made.destroy();
    });
    return made;
  };
  response.on('data', (bytes: Uint8Array) => {
    if (subscriber.closed) return;
    received += bytes.length;
    if (received > maxBodyBytes) {
      fail(tooLarge(maxBodyBytes));
      return;
    }
    try {
      decoder ??= start(bytes);
    } catch (error) {
      fail(error);
      return;
    }
    if (decoder.write(bytes)) return;
    response.pause();
    decoder.once('drain', () => response.resume());
  });
  response.once('end', () => {
    if (decoder === undefined) subscriber.complete();
    else decoder.end();
  });
  response.once('close', () => {
    if (!response.complete)
      fail(new PollFailure('cut', 'the connection ended before the body did'));
  });
}

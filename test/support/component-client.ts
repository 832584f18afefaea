// An HTTP client for components. It sends one request and returns what it receives until the connection ends.
import { request as plainRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request as secureRequest } from 'node:https';
import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { COMPONENT_TLS } from './component-certificates.js';

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The received bytes, even if the body is incomplete. */
  readonly body: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
  /** The code of the error; undefined if the response is complete. */
  readonly error: string | undefined;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 10_000;

/** Sends a request. Never rejects: the result has the error, and status 0 if there was no response. */
export function ask(
  url: string,
  { method = 'GET', headers = {} }: Ask = {},
): Promise<ReceivedResponse> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let seenHeaders: IncomingHttpHeaders = {};
    const finish = (error?: string) => {
      const body = Buffer.concat(chunks);
      resolve({ status, headers: seenHeaders, body, text: body.toString(), error });
    };
    const fail = ({ code, message }: NodeJS.ErrnoException) => finish(code ?? message);
    const make = url.startsWith('https:') ? secureRequest : plainRequest;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const options = { method, headers, agent: false, ca: COMPONENT_TLS.cert, signal };
    const request = make(url, options, (response) => {
      status = response.statusCode ?? 0;
      seenHeaders = response.headers;
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => finish());
      response.on('error', fail);
    });
    request.on('error', fail);
    request.end();
  });
}

/** The decoded body. */
export function unpacked({ headers, body }: ReceivedResponse): string {
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return body.toString();
  if (encoding === 'gzip') return gunzipSync(body).toString();
  // A zlib header names method 8 (deflate), and its two bytes are a multiple of 31.
  const isWrapped = (body[0] ?? 0) % 16 === 8 && body.readUInt16BE(0) % 31 === 0;
  return (isWrapped ? inflateSync(body) : inflateRawSync(body)).toString();
}

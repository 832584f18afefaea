// An HTTP client of a component: sends one request and returns everything that it received.
import { request as plainRequest } from 'node:http';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { COMPONENT_TLS } from './component-certificates.js';

export interface PollResult {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it came, up to where it ended. */
  readonly body: Buffer;
  /** As UTF-8. */
  readonly text: string;
  /** The code of what went wrong on the way; undefined when the response is whole. */
  readonly error: string | undefined;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves after so many bytes of the body. */
  readonly atMost?: number;
  /** Leaves when it takes longer. */
  readonly patienceMs?: number;
  readonly agent?: RequestOptions['agent'];
}

/** Never rejects: what went wrong is part of what is seen; status 0 is no response at all. */
export function ask(url: string, options: Ask = {}): Promise<PollResult> {
  const { atMost = Infinity, patienceMs = 10_000, method = 'GET', headers = {} } = options;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let seenHeaders: IncomingHttpHeaders = {};
    const finish = (error?: string) => {
      clearTimeout(patience);
      const body = Buffer.concat(chunks);
      resolve({ status, headers: seenHeaders, body, text: body.toString(), error });
    };
    const fail = ({ code, message }: NodeJS.ErrnoException) => finish(code ?? message);
    const make = url.startsWith('https:') ? secureRequest : plainRequest;
    const agent = options.agent ?? false;
    const request = make(url, { method, headers, agent, ca: COMPONENT_TLS.cert }, (response) => {
      status = response.statusCode ?? 0;
      seenHeaders = response.headers;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes < atMost) return;
        finish('ENOUGH');
        request.destroy();
      });
      response.on('end', () => finish());
      response.on('error', fail);
    });
    const patience = setTimeout(() => {
      finish('EPATIENCE');
      request.destroy();
    }, patienceMs);
    request.on('error', fail);
    request.end();
  });
}

/** The body without its Content-Encoding. */
export function unpacked({ headers, body }: PollResult): string {
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return body.toString();
  if (encoding === 'gzip') return gunzipSync(body).toString();
  // Zlib's header: deflate, and a multiple of 31.
  const isWrapped = (body[0] ?? 0) % 16 === 8 && body.readUInt16BE(0) % 31 === 0;
  return (isWrapped ? inflateSync(body) : inflateRawSync(body)).toString();
}

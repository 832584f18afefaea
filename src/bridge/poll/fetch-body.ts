// Fetches the body of one HTTP response, or fails with a PollFailure.
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Transform } from 'node:stream';
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { Observable } from 'rxjs';
import type { Subscriber } from 'rxjs';
import { quoted } from '../../document/document.js';
import { codeOf, messageOf } from '../../errors.js';

/** The reasons of failed polls, each with its meaning for operators. */
export const FAILURE_REASONS = {
  refused: 'no server listens at the address',
  unreachable: 'the host has no address or cannot be reached',
  timeout: 'no connection, or no complete answer, within the time limit',
  tls: 'no TLS connection: wrong certificate, host name or protocol',
  cut: 'the connection ended before the answer was complete',
  bad_http: 'the answer is not HTTP',
  unauthorized: 'status 401 or 403: the security key is missing or wrong',
  no_key: 'the security key was refused, and cannot be read again from its file or variable',
  not_found: 'status 404: the JSON view is off, or the URL has a different base path',
  redirected: 'a redirect (status 300 to 399); following it would send the key to another address',
  bad_status: 'any other status except 200',
  no_data: 'status 204 or an empty array: the component has nothing to show',
  not_json: 'the answer has a type other than JSON; it may be a login page',
  bad_encoding: 'the body cannot be decompressed, or its encoding is unknown',
  bad_json: 'the body is not JSON',
  bad_shape: 'the body is JSON, but not an array of objects',
  too_large: 'the body is larger than max_body_bytes',
  too_deep: 'objects are nested deeper than max_depth',
  too_many: 'more objects than max_objects or more variables than max_variables',
} as const satisfies Readonly<Record<string, string>>;

export type FailureReason = keyof typeof FAILURE_REASONS;

/** The failure of a poll. Its message never contains the security key. */
export class PollFailure extends Error {
  override readonly name = 'PollFailure';

  constructor(
    readonly reason: FailureReason,
    message: string,
  ) {
    super(message);
  }
}

/** The number of the compression method in a zlib stream: the lower 4 bits of the first byte (RFC 1950). */
const ZLIB_METHOD = 8;

/**
 * A decoder for a body that begins with `first`. In the HTTP standard, `deflate` means the zlib format,
 * but some servers send raw deflate.
 * @throws PollFailure `bad_encoding` for an encoding that was not requested
 */
function bodyDecoder(encoding: string | undefined, first: Uint8Array): Transform {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return new PassThrough();
  if (name === 'gzip' || name === 'x-gzip') return createGunzip();
  if (name === 'deflate')
    return ((first[0] ?? 0) & 0x0f) === ZLIB_METHOD ? createInflate() : createInflateRaw();
  throw new PollFailure(
    'bad_encoding',
    `the body is encoded as ${quoted(name)}, allowed: deflate and gzip`,
  );
}

const JSON_TYPE = /^(application|text)\/([\w.-]+\+)?json\s*(;|$)/i;

/** Checks status and headers. @throws PollFailure unless the status is 200 and the body is JSON of an allowed size */
function checkAnswer(
  { statusCode: status = 0, headers }: IncomingMessage,
  { hasKey, maxBodyBytes }: { readonly hasKey: boolean; readonly maxBodyBytes: number },
): void {
  if (status !== 200) throw refusal(status, headers.location, hasKey);
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type))
    throw new PollFailure(
      'not_json',
      `the answer has type ${quoted(type)}, allowed: application/json`,
    );
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBodyBytes) throw tooLarge(maxBodyBytes, `${length}`);
}

const tooLarge = (maxBodyBytes: number, found = 'more'): PollFailure =>
  new PollFailure(
    'too_large',
    `the body has ${found} bytes, allowed: at most ${maxBodyBytes} (max_body_bytes)`,
  );

function refusal(status: number, location: string | undefined, hasKey: boolean): PollFailure {
  if (status === 204) return new PollFailure('no_data', 'status 204: no data');
  if (status === 401 || status === 403)
    return new PollFailure(
      'unauthorized',
      `status ${status}: ${hasKey ? 'security_key is wrong' : 'the component requires a security_key'}`,
    );
  if (status === 404)
    return new PollFailure(
      'not_found',
      'status 404: the JSON view is off, or url has a different base path',
    );
  if (status >= 300 && status < 400) {
    // Omit the query from the message, since the query may repeat parts of the request.
    const to = quoted((location ?? '').replace(/[?#].*$/s, ''));
    return new PollFailure(
      'redirected',
      `status ${status} redirects to ${to}; redirects are not followed`,
    );
  }
  return new PollFailure('bad_status', `the answer has status ${status}, allowed: 200`);
}

/** Failure reasons by patterns of error codes. The first matching pattern wins. */
const REASONS: readonly (readonly [RegExp, FailureReason])[] = [
  [/^ECONNREFUSED$/, 'refused'],
  [/^(ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/, 'timeout'],
  [/^(HPE_|ERR_HTTP)/, 'bad_http'],
  [/^(Z_|ERR_ZLIB)/, 'bad_encoding'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'cut'],
  [/^(EPROTO$|ERR_TLS|ERR_SSL|ERR_OSSL)/, 'tls'],
  // Other errors of the system: no such name, no route, no more sockets.
  [/^(E[A-Z0-9]+|EAI_[A-Z]+)$/, 'unreachable'],
  // The remaining codes are those of OpenSSL, one for each kind of failure.
  [/^/, 'tls'],
];

/** Matches an error message of OpenSSL. Captures the reason, which follows the code, the library and the function. */
const OPENSSL = /(?:^|:)error:[^:]*:[^:]*:[^:]*:([^:]+)/;

/** Converts an error of a request to a PollFailure. Returns a PollFailure unchanged. */
function requestFailure(error: unknown): PollFailure {
  if (error instanceof PollFailure) return error;
  // If a name has several addresses, the error contains one error for each address.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = codeOf(first) || codeOf(error);
  const reason = REASONS.find(([shape]) => shape.test(code))?.[1] ?? 'tls';
  const message = messageOf(first).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const text = (OPENSSL.exec(message)?.[1] ?? (message || code)).slice(0, 200);
  if (reason === 'bad_http' && code.includes('HEADER_OVERFLOW'))
    return new PollFailure('bad_http', 'the headers of the answer are larger than 16 KiB');
  return new PollFailure(reason, text);
}

export interface Endpoint {
  /** The full address of the view. */
  readonly url: URL;
  /** True if the certificate of an https address must be valid. */
  readonly tlsVerify: boolean;
  /** Certificates in PEM to trust instead of the default certificate authorities. */
  readonly ca: string | undefined;
  readonly deflate: boolean;
  /** The time limit from the name look-up to the end of the TLS handshake. */
  readonly connectTimeoutMs: number;
  readonly maxBodyBytes: number;
}

/** A part of the decoded body. */
export interface BodyChunk {
  readonly bytes: Uint8Array;
  /** The number of body bytes received so far, before decompression. */
  readonly received: number;
}

/**
 * Sends one GET request on a new connection, and emits the body of the response. Follows no redirects. Unsubscribing
 * closes the connection at once. Fails with a PollFailure.
 * @param securityKey empty for none
 * @param lookup looks up the addresses of a host name; by default, the system does
 */
export function fetchBody(
  endpoint: Endpoint,
  securityKey: string,
  lookup?: LookupFunction,
): Observable<BodyChunk> {
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
    // Trust each certificate of the file, as Go does, even if it is not self-signed.
    ...(ca !== undefined && { ca, allowPartialTrustChain: true }),
  });
}

/** Emits the decoded body of a response to `subscriber`, or a PollFailure. */
function forward(
  response: IncomingMessage,
  maxBodyBytes: number,
  subscriber: Subscriber<BodyChunk>,
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
      fail(new PollFailure('cut', 'the connection ended before the end of the body'));
  });
}

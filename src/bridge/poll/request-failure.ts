// Maps errors of the system, TLS and the HTTP parser to the reasons of failed polls.
import { messageOf } from '../../errors.js';
import { PollFailure } from './poll-failure.js';
import type { FailureReason } from './poll-failure.js';

/** By the code of the error; the first that matches wins. */
const REASONS: readonly (readonly [RegExp, FailureReason])[] = [
  [/^ECONNREFUSED$/, 'refused'],
  [/^(ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/, 'timeout'],
  [/^(HPE_|ERR_HTTP)/, 'bad_http'],
  [/^(Z_|ERR_ZLIB)/, 'bad_encoding'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'cut'],
  [/^(EPROTO$|ERR_TLS|ERR_SSL|ERR_OSSL)/, 'tls'],
  // Other errors of the system: no such name, no route, no more sockets.
  [/^(E[A-Z0-9]+|EAI_[A-Z]+)$/, 'unreachable'],
  // OpenSSL has a separate code for each kind of failure.
  [/^/, 'tls'],
];

/** The reason in an OpenSSL message, which also names places in its source. */
const OPENSSL = /(?:^|:)error:[^:]*:[^:]*:[^:]*:([^:]+)/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** The failure for an error of a request; a PollFailure is returned as it is. */
export function requestFailure(error: unknown): PollFailure {
  if (error instanceof PollFailure) return error;
  // A name with several addresses gives one error for each of them.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = codeOf(first) || codeOf(error);
  const reason = REASONS.find(([shape]) => shape.test(code))?.[1] ?? 'tls';
  const message = messageOf(first).replace(/[\p{Cc}\p{Cf}]/gu, ' ');
  const text = (OPENSSL.exec(message)?.[1] ?? (message || code)).slice(0, 200);
  if (reason === 'bad_http' && code.includes('HEADER_OVERFLOW'))
    return new PollFailure('bad_http', 'the headers of the answer are larger than 16 KiB');
  return new PollFailure(reason, text);
}

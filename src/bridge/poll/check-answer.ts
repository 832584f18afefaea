// Checks by status and headers whether to read an answer.
import type { IncomingMessage } from 'node:http';
import { quoted } from '../../document/key-path.js';
import { PollFailure } from './poll-failure.js';

const JSON_TYPE = /^(application|text)\/([\w.-]+\+)?json\s*(;|$)/i;

/** @throws PollFailure for any answer but 200 with JSON of an allowed size */
export function checkAnswer(
  { statusCode: status = 0, headers }: IncomingMessage,
  { hasKey, maxBodyBytes }: { readonly hasKey: boolean; readonly maxBodyBytes: number },
): void {
  if (status !== 200) throw refusal(status, headers.location, hasKey);
  const type = headers['content-type'];
  if (type !== undefined && !JSON_TYPE.test(type))
    throw new PollFailure(
      'not_json',
      `the answer is of type ${quoted(type)}, needed is application/json`,
    );
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBodyBytes) throw tooLarge(maxBodyBytes, `${length}`);
}

/** The failure of a body over the size limit. */
export const tooLarge = (maxBodyBytes: number, found = 'more'): PollFailure =>
  new PollFailure(
    'too_large',
    `the body has ${found} bytes, max_body_bytes allows ${maxBodyBytes}`,
  );

function refusal(status: number, location: string | undefined, hasKey: boolean): PollFailure {
  if (status === 204) return new PollFailure('no_data', 'status 204: no data');
  if (status === 401 || status === 403)
    return new PollFailure(
      'unauthorized',
      `status ${status}: ${hasKey ? 'security_key is not the right one' : 'it requires a security_key'}`,
    );
  if (status === 404)
    return new PollFailure(
      'not_found',
      'status 404: the view is switched off there, or url has another base',
    );
  if (status >= 300 && status < 400) {
    // Without the query, which may repeat what we sent.
    const to = quoted((location ?? '').replace(/[?#].*$/s, ''));
    return new PollFailure('redirected', `status ${status}, to ${to}: redirects are not followed`);
  }
  return new PollFailure('bad_status', `status ${status}, needed is 200`);
}

// Why a poll gave no tree: the complete table of reasons, as counted and logged.

/** Reasons, each with what it means to an operator. */
export const FAILURE_REASONS = {
  refused: 'no server listens at the address',
  unreachable: 'the host has no address or cannot be reached',
  timeout: 'no connection, or no whole answer, within the time allowed',
  tls: 'the connection could not be secured: certificate, name or protocol',
  cut: 'the connection ended before the answer did',
  bad_http: 'the answer is not HTTP',
  unauthorized: 'status 401 or 403: the security key is missing or wrong',
  no_key: 'the security key was refused, and cannot be read again from its file or variable',
  not_found: 'status 404: the view is switched off, or the URL has another base',
  redirected: 'a status from 300 to 399, which is not followed: the key would go along',
  bad_status: 'any other status than 200',
  no_data: 'status 204 or an empty array: the component has nothing to show',
  not_json: 'the answer calls itself something other than JSON, a login page perhaps',
  bad_encoding: 'the body is compressed wrongly or in an unknown way',
  bad_json: 'the body is not JSON',
  bad_shape: 'JSON, but no array of objects',
  too_large: 'the body is larger than max_body_bytes',
  too_deep: 'objects are nested deeper than max_depth',
  too_many: 'more objects than max_objects or more variables than max_variables',
} as const satisfies Readonly<Record<string, string>>;

export type FailureReason = keyof typeof FAILURE_REASONS;

/** A poll that gave no tree. The message says what was found, without the key. */
export class PollFailure extends Error {
  override readonly name = 'PollFailure';

  constructor(
    readonly reason: FailureReason,
    message: string,
  ) {
    super(message);
  }
}

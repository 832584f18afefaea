// How a bridge that polls a component reports each fault of the component.
import type { FailureReason } from '#app/bridge/poll/fetch-body.js';
import type { FaultName } from './faults.js';

/** The reason that the bridge counts, and the beginning of its message; `tree` if the answer has a valid tree. */
export const FAILURES: Readonly<Record<FaultName, `${FailureReason}: ${string}` | 'tree'>> = {
  refuse: 'refused: connect ECONNREFUSED',
  reset: 'cut: ',
  hang: 'timeout: no complete answer within',
  drip: 'timeout: no complete answer within',
  cut: 'cut: ',
  headers_only: 'cut: ',
  short_length: 'bad_json: the body is not JSON: Expected',
  long_length: 'cut: ',
  no_content: 'no_data: status 204: no data',
  redirect: 'redirected: status 301 redirects to "/moved/sharedmem"',
  unauthorized: 'unauthorized: status 401: the component requires a security_key',
  forbidden: 'unauthorized: status 403: the component requires a security_key',
  not_found: 'not_found: status 404: the JSON view is off',
  server_error: 'bad_status: the answer has status 500, allowed: 200',
  html: 'not_json: the answer has type "text/html; charset=utf-8"',
  html_as_json: "bad_json: the body is not JSON: Unexpected token '<'",
  empty: 'bad_json: the body is not JSON: it is empty',
  empty_array: 'no_data: the document is an empty array',
  null: 'bad_shape: the document is null, allowed: an array',
  object: 'bad_shape: the document is an object, allowed: an array',
  scalars: 'bad_shape: the document is an array of 3 items',
  huge: 'too_large: the body has more bytes, allowed: at most 1048576 (max_body_bytes)',
  huge_deflate: 'too_large: the body has more bytes, allowed: at most 1048576 (max_body_bytes)',
  bad_deflate: 'bad_encoding: invalid block type',
  deep: 'too_deep: the body has more than 136 levels of arrays and objects',
  many_objects: 'too_large: the body has more bytes, allowed: at most 1048576 (max_body_bytes)',
  bad_utf8: 'bad_json: the body is not JSON: it is not UTF-8',
  nan: "bad_json: the body is not JSON: Unexpected token 'N'",
  trailing: 'bad_json: the body is not JSON: Unexpected non-whitespace character after JSON',
  slow: 'timeout: no complete answer within',
  other_component: 'tree',
  unknown_encoding: 'bad_encoding: the body is encoded as "br"',
};

export const reasonOfFault = (fault: FaultName): string => FAILURES[fault].split(':')[0] ?? '';

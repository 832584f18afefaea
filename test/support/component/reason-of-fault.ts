// How a bridge that polls a component classifies each fault of the component.
import type { FailureReason } from '#app/bridge/poll/fetch-body.js';
import type { FaultName } from './faults.js';

/** The reason that the bridge counts and logs; `tree` if the answer still has a valid tree. */
export const REASON_OF: Readonly<Record<FaultName, FailureReason | 'tree'>> = {
  refuse: 'refused',
  reset: 'cut',
  hang: 'timeout',
  drip: 'timeout',
  cut: 'cut',
  headers_only: 'cut',
  short_length: 'bad_json',
  long_length: 'cut',
  no_content: 'no_data',
  redirect: 'redirected',
  unauthorized: 'unauthorized',
  forbidden: 'unauthorized',
  not_found: 'not_found',
  server_error: 'bad_status',
  html: 'not_json',
  html_as_json: 'bad_json',
  empty: 'bad_json',
  empty_array: 'no_data',
  null: 'bad_shape',
  object: 'bad_shape',
  scalars: 'bad_shape',
  huge: 'too_large',
  huge_deflate: 'too_large',
  bad_deflate: 'bad_encoding',
  deep: 'too_deep',
  many_objects: 'too_large',
  bad_utf8: 'bad_json',
  nan: 'bad_json',
  trailing: 'bad_json',
  slow: 'timeout',
  other_component: 'tree',
  unknown_encoding: 'bad_encoding',
};

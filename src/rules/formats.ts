// The formats of the texts that keys and options take.
import { isIPv4 } from 'node:net';
import { list, rule, text } from './rule.js';

/** Parts of segment names and of routes: context, pool and server keys. */
export const name = text(
  /^(?!\.)[A-Za-z0-9_.-]{1,64}$/,
  'a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with "."',
);
/** Applications; metric names carry them as a prefix. */
export const application = text(
  /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  'a string of 1 to 64 letters, digits and "_" that starts with a letter',
);
/** Free text, perhaps empty. */
export const line = text(/^\P{Cc}{0,1024}$/u, 'a string of at most 1024 characters in one line');
/** Free text that is not empty. */
export const word = text(/^\P{Cc}{1,1024}$/u, 'a string of 1 to 1024 characters in one line');
export const words = list(word, { max: 1024 });
export const names = list(name, { min: 1, max: 1024, different: { by: String } });

export const ipv4 = rule('string', 'an IPv4 address such as "127.0.0.1"', (raw) =>
  typeof raw === 'string' && isIPv4(raw) ? raw : undefined,
);
/** Base paths of scrapes: `/` and everything below `/-` are pages of our own. */
export const urlPath = text(
  /^(?!\/-(\/|$))(?=.{2,256}$)(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+)+$/,
  'a path such as "/metrics" whose parts are letters, digits, ".", "_", "~" and "-", ' +
    'of at most 256 characters and not below "/-"',
);

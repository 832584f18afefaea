// The settings of a target whose format is varnish.
import { lstatSync } from 'node:fs';
import { hostname } from 'node:os';
import { oneOf, text } from '../rules/rule.js';
import { optional } from '../rules/table.js';
import type { ValuesOf } from '../rules/table.js';

/** The application of each target's root. */
export const VARNISH_APP = 'varnish';

const directory = text(
  /^(?=.{2,1024}$)(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}/]+)+$/u,
  'an absolute path without "." or ".." as a part',
);

export const VARNISH_SETTINGS = {
  directory: optional(
    '/var/lib/varnish',
    directory,
    'Directory that contains the work directories of Varnish, each named by a server key',
  ),
  names: optional(
    'compat',
    oneOf('compat', 'clean'),
    'Metric names: compat uses the names of prometheus_varnish_exporter, clean uses names that follow the Prometheus conventions',
  ),
};

export type VarnishSettings = ValuesOf<typeof VARNISH_SETTINGS>;

/** The server key of the Varnish instance that has no name. */
export const NAMELESS = 'default';
/** The directory of the instance without a name, since Varnish 7.6. Older versions use the host name. */
const NAMELESS_FOLDER = 'varnishd';

/** The name of the subdirectory of `directory` that belongs to an instance. */
export function folderOf(serverKey: string, directory: string, host = hostname()): string {
  if (serverKey !== NAMELESS) return serverKey;
  const isThere = (name: string) => {
    try {
      return lstatSync(`${directory}/${name}`, { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  };
  return !isThere(host) && isThere(NAMELESS_FOLDER) ? NAMELESS_FOLDER : host;
}

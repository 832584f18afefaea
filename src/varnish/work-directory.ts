// Where an instance of Varnish works, by its server key.
import { lstatSync } from 'node:fs';
import { hostname } from 'node:os';

/** The server key of the instance that runs without a name of its own. */
export const NAMELESS = 'default';
/** What Varnish 7.6 and later call it; earlier ones give it the name of the host. */
const FIXED = 'varnishd';

/** The folder of an instance, below the directory of all. */
export function folderOf(serverKey: string, directory: string, host = hostname()): string {
  if (serverKey !== NAMELESS) return serverKey;
  const isThere = (name: string) => {
    try {
      return lstatSync(`${directory}/${name}`, { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  };
  return !isThere(host) && isThere(FIXED) ? FIXED : host;
}

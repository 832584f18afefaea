// The page at `/-/targets`, from which Prometheus discovers every target (http_sd_configs).
import type { IncomingMessage } from 'node:http';
import type { Target } from '../../model.js';
import { identitiesOf } from '../identity.js';
import { parametersOf } from '../routing-parameters.js';

/** A name or an IPv4 address, or an IPv6 one in brackets, and a port or none. */
const AUTHORITY = /^(?:[\w-][\w.-]{0,252}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * One group for each target, ready or not, as JSON. The labels stay while the root is lost.
 * @param authority host and port of this listener, as Prometheus reaches it
 * @param path base scrape path
 * @param isSecure whether it is reached by HTTPS
 */
export function discoveryDocument(
  targets: readonly Target[],
  authority: string,
  path: string,
  isSecure: boolean,
): string {
  const groups = [...identitiesOf(targets)].map(([target, identity]) => {
    const { lastRoot } = target;
    const parameters = Object.entries(parametersOf(target, targets));
    return {
      targets: [authority],
      labels: {
        ...(isSecure && { __scheme__: 'https' }),
        __metrics_path__: path,
        ...Object.fromEntries(parameters.map(([name, value]) => [`__param_${name}`, value])),
        ...identity,
        ...(lastRoot && { root: lastRoot.id }),
      },
    };
  });
  return `${JSON.stringify(groups)}\n`;
}

/** The Host header if it is valid, else the local address of the connection. */
export function authorityOf({ headers, socket }: IncomingMessage): string {
  const { host = '' } = headers;
  if (AUTHORITY.test(host)) return host;
  return `${socket.localAddress ?? ''}:${socket.localPort ?? ''}`;
}

// Listener addresses: listening at an address, its text, and the fault if the server cannot use it.
import type { AddressInfo, ListenOptions, Server } from 'node:net';
import { Fault } from '../../errors.js';

export type ListenAddress =
  /** A host and port. An undefined host means all addresses of the machine, IPv6 and IPv4. */
  | { readonly host: string | undefined; readonly port: number }
  /** A file descriptor of a listening socket that systemd opened. */
  | { readonly fd: number };

export function listenAt(server: Server, address: ListenAddress, opened: () => void): void {
  if ('fd' in address) server.listen({ fd: address.fd }, opened);
  else {
    const { host, port } = address;
    const options: ListenOptions = host === undefined ? { port } : { host, port };
    server.listen(options, opened);
  }
}

/** The text of an address in messages. */
function shownAddress(address: ListenAddress): string {
  if ('fd' in address) return `descriptor ${address.fd}`;
  return authorityOf(address.host ?? '', address.port);
}

/**
 * The host and bound port of a listener, written as in a URL; undefined for a UNIX socket.
 * @param bound the address that the server reports
 */
export function boundAuthority(
  address: ListenAddress,
  bound: AddressInfo | string | null,
): string | undefined {
  if (bound === null || typeof bound === 'string') return undefined;
  const host = 'fd' in address ? bound.address : (address.host ?? bound.address);
  return authorityInUrl(host, bound.port);
}

/** Host and port, written as in a listen address. */
export const authorityOf = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Host and port, written as in a URL: the zone of an IPv6 address follows `%25` (RFC 6874). */
export const authorityInUrl = (host: string, port: number): string =>
  authorityOf(host.replace('%', '%25'), port);

/** Makes a Fault LISTENER_FAILED from the error of a server that listens at `address`. */
export function listenFault(address: ListenAddress, error: Error): Fault {
  const way = 'port' in address && 'code' in error ? wayOut(address, error.code) : '';
  const what = `Cannot listen on ${shownAddress(address)}: ${error.message}${way}`;
  return new Fault('LISTENER_FAILED', what, { cause: error });
}

/** The probable cause or the next step, for an error code of the system; empty for most codes. */
function wayOut(
  { host = '', port }: { readonly host: string | undefined; readonly port: number },
  code: unknown,
): string {
  if (code === 'EADDRINUSE') return `; "ss -ltnp 'sport = :${port}'" shows which process uses it`;
  const [, zone] = host.split('%');
  // Node.js accepts the name of an interface as a zone, but not its number.
  return code === 'EINVAL' && zone !== undefined
    ? `; no interface has the name ${JSON.stringify(zone)}; "ip link" lists the interfaces`
    : '';
}

// Addresses of listeners: listening, their texts, and the fault of one that cannot be used.
import type { AddressInfo, ListenOptions, Server } from 'node:net';
import { Fault } from '../../errors.js';

export type ListenAddress =
  /** A host and port. An undefined host stands for all addresses of the machine, IPv6 and IPv4. */
  | { readonly host: string | undefined; readonly port: number }
  /** A listening socket of systemd. */
  | { readonly fd: number };

export function listenAt(server: Server, address: ListenAddress, opened: () => void): void {
  if ('fd' in address) server.listen({ fd: address.fd }, opened);
  else {
    const { host, port } = address;
    const options: ListenOptions = host === undefined ? { port } : { host, port };
    server.listen(options, opened);
  }
}

/** An address for messages. */
function shownAddress(address: ListenAddress): string {
  if ('fd' in address) return `descriptor ${address.fd}`;
  return authorityOf(address.host ?? '', address.port);
}

/**
 * The host and bound port of a listener as in a URL; undefined for a UNIX socket.
 * @param bound the address from the server
 */
export function boundAuthority(
  address: ListenAddress,
  bound: AddressInfo | string | null,
): string | undefined {
  if (bound === null || typeof bound === 'string') return undefined;
  const host = 'fd' in address ? bound.address : (address.host ?? bound.address);
  return authorityOf(host, bound.port);
}

/** Host and port as in a URL. */
export const authorityOf = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** Fault LISTENER_FAILED for the error of a server that listens at `address`. */
export function listenFault(address: ListenAddress, error: Error): Fault {
  const isTaken = 'code' in error && error.code === 'EADDRINUSE' && 'port' in address;
  const way = isTaken ? `; "ss -ltnp 'sport = :${address.port}'" shows who has it` : '';
  const what = `Cannot listen on ${shownAddress(address)}: ${error.message}${way}`;
  return new Fault('LISTENER_FAILED', what, { cause: error });
}

// Where the HTTP listener of a configuration listens.
import { isIP } from 'node:net';
import type { Settings } from '../config/settings.js';
import { Fault } from '../errors.js';
import { hostAndPort } from '../rules/formats.js';
import type { ListenAddress } from '../sinks/http/listen-address.js';

/**
 * Sockets of systemd go before addresses, and these before the one address of the specification.
 * @throws Fault LISTENER_FAILED when sockets are wanted and there are none
 */
export function listenAddresses(
  settings: Settings,
  sockets: readonly number[],
): readonly ListenAddress[] {
  if (settings.metricsSystemdSocket) {
    if (sockets.length > 0) return sockets.map((fd) => ({ fd }));
    throw new Fault('LISTENER_FAILED', 'systemd handed over no socket: start the .socket unit');
  }
  const addresses = settings.metricsListenAddresses
    .map(hostAndPort)
    .filter((address) => address !== undefined);
  if (addresses.length > 0) return addresses;
  return [{ host: settings.metricsBindAddress, port: settings.metricsPort }];
}

/** Whether only this machine reaches it; who reaches a socket of systemd is not known. */
export function isLocalAddress(address: ListenAddress): boolean {
  if ('fd' in address || address.host === undefined) return false;
  if (isIP(address.host) === 0) return address.host === 'localhost';
  return address.host === '::1' || address.host.startsWith('127.');
}

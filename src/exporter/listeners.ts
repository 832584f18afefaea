// The listeners of a configuration: addresses, names, connection limits, and warnings about exposure.
import { isIP } from 'node:net';
import type { Config } from '../config/resolve.js';
import type { Settings } from '../config/settings.js';
import { Fault } from '../errors.js';
import { hostAndPort } from '../rules/formats.js';
import type { ListenAddress } from '../sinks/http/http-server.js';
import { authenticatesClients } from '../web-config/web-config.js';
import type { WebConfig } from '../web-config/web-config.js';
import { selectedClasses } from './plan.js';
import type { Plan } from './plan.js';

/**
 * The addresses of the listener: sockets of systemd, else `metrics_listen_addresses`, else the bind address and port.
 * @throws Fault LISTENER_FAILED if `metrics_systemd_socket` is set and there is no socket
 */
export function listenAddresses(
  settings: Settings,
  sockets: readonly number[],
): readonly ListenAddress[] {
  if (settings.metricsSystemdSocket) {
    if (sockets.length > 0) return sockets.map((fd) => ({ fd }));
    throw new Fault('LISTENER_FAILED', 'systemd passed no socket: start the .socket unit');
  }
  const addresses = settings.metricsListenAddresses
    .map(hostAndPort)
    .filter((address) => address !== undefined);
  if (addresses.length > 0) return addresses;
  return [{ host: settings.metricsBindAddress, port: settings.metricsPort }];
}

/** Whether only this machine can connect to an address. False for a socket of systemd, whose address is unknown. */
export function isLoopback(address: ListenAddress): boolean {
  if ('fd' in address || address.host === undefined) return false;
  if (isIP(address.host) === 0) return address.host === 'localhost';
  return address.host === '::1' || address.host.startsWith('127.');
}

/** The number of file descriptors for the process itself, for each target, and for each thread. */
const OF_PROCESS = 32;
const OF_TARGET = 2;
const OF_THREAD = 12;
/** With a lower limit, health probes and scrapes would keep closing each other's connections. */
const MIN_CONNECTIONS = 8;

/** The soft limit of open files in the text of /proc/self/limits; Infinity if the text has none. */
export function openFilesLimit(limits: string): number {
  const [, soft = ''] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === '' ? Infinity : Number(soft);
}

/** How many connections the open-files limit allows, at most `wanted`. Warns if the limit allows fewer. */
export function connectionLimit(
  wanted: number,
  openFiles: number,
  targets: number,
  threads: number,
): { readonly connections: number; readonly warning: string } {
  const others = OF_PROCESS + OF_TARGET * targets + OF_THREAD * threads;
  if (openFiles >= others + wanted) return { connections: wanted, warning: '' };
  const connections = Math.min(wanted, Math.max(MIN_CONNECTIONS, openFiles - others));
  return {
    connections,
    warning: `the process may open ${openFiles} files (ulimit -n, LimitNOFILE of the unit), but ${targets} targets with http_max_connections = ${wanted} need ${others + wanted}; the exporter keeps at most ${connections} connections`,
  };
}

/** The names of the settings that define the addresses of the listener, for messages. */
export function listenerName({ settings, nameOf }: Pick<Config, 'settings' | 'nameOf'>): string {
  if (settings.metricsSystemdSocket) return nameOf(['metrics_systemd_socket']);
  if (settings.metricsListenAddresses.length > 0) return nameOf(['metrics_listen_addresses']);
  return `${nameOf(['metrics_port'])} and ${nameOf(['metrics_bind_address'])}`;
}

/**
 * Warnings about personal data that every machine could read: in metrics of a catalogue, and in string variables
 * without a catalogue row.
 * @param web undefined without a web configuration
 */
export function exposureWarnings(
  { settings, nameOf }: Pick<Config, 'settings' | 'nameOf'>,
  plan: Plan,
  web: WebConfig | undefined,
): readonly string[] {
  // For a socket of systemd, the .socket unit defines who can connect.
  if (!settings.metricsHttpEnabled || settings.metricsSystemdSocket) return [];
  if (web !== undefined && authenticatesClients(web)) return [];
  const open = listenAddresses(settings, []).find(
    (address) => 'host' in address && !isLoopback(address),
  );
  if (open === undefined) return [];
  const personal = [...new Set(plan.flatMap(personalOf))];
  const uncatalogued = plan.filter(
    ({ catalogue, definition }) => catalogue !== undefined && definition.showUncatalogued,
  );
  const apps = [...new Set(uncatalogued.map(({ definition }) => definition.app))];
  const served =
    `served to every machine that can connect; listen only on 127.0.0.1 with ${nameOf(['metrics_listen_addresses'])}, ` +
    `or require passwords with ${nameOf(['web_config_file'])}`;
  return [
    ...(personal.length === 0
      ? []
      : [
          `${personal.join(', ')}: personal data, ${served}, or exclude the class of the metric with classes`,
        ]),
    ...(apps.length === 0
      ? []
      : [
          `string values of ${apps.join(', ')} that no catalogue row reads (show_uncatalogued): perhaps personal data, ${served}`,
        ]),
  ];
}

const personalOf = (planned: Plan[number]): readonly string[] =>
  selectedClasses(planned).flatMap(({ rows }) =>
    rows.filter(({ isPersonal }) => isPersonal).map(({ family }) => family.name),
  );

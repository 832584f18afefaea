// The listeners of a configuration: addresses, names, room for connections, and warnings about exposure.
import { isIP } from 'node:net';
import type { Config } from '../config/resolve.js';
import type { Settings } from '../config/settings.js';
import { Fault } from '../errors.js';
import { hostAndPort } from '../rules/formats.js';
import type { ListenAddress } from '../sinks/http/listen-address.js';
import { authenticatesClients } from '../web-config/web-config.js';
import type { WebConfig } from '../web-config/web-config.js';
import type { Plan } from './plan.js';

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

/** File descriptors of the process itself, of each target, and of each thread of a partition. */
const OF_PROCESS = 32;
const OF_TARGET = 2;
const OF_THREAD = 12;
/** With fewer connections, probes and scrapes would keep closing each other. */
const LEAST = 8;

/** The soft limit in the text of /proc/self/limits; infinite if it is not there. */
export function openFilesLimit(limits: string): number {
  const [, soft = ''] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === '' ? Infinity : Number(soft);
}

/** The number of connections to allow, at most `wanted`; the warning is empty if there is room for all of them. */
export function connectionRoom(
  wanted: number,
  openFiles: number,
  targets: number,
  threads: number,
): { readonly connections: number; readonly warning: string } {
  const others = OF_PROCESS + OF_TARGET * targets + OF_THREAD * threads;
  if (openFiles >= others + wanted) return { connections: wanted, warning: '' };
  const connections = Math.min(wanted, Math.max(LEAST, openFiles - others));
  return {
    connections,
    warning: `the process may open ${openFiles} files (ulimit -n, LimitNOFILE of the unit), and ${targets} targets with http_max_connections = ${wanted} need ${others + wanted}: at most ${connections} connections are kept`,
  };
}

// Which settings say where the HTTP listener listens, for messages about it.
export function listenerName({ settings, nameOf }: Pick<Config, 'settings' | 'nameOf'>): string {
  if (settings.metricsSystemdSocket) return nameOf(['metrics_systemd_socket']);
  if (settings.metricsListenAddresses.length > 0) return nameOf(['metrics_listen_addresses']);
  return `${nameOf(['metrics_port'])} and ${nameOf(['metrics_bind_address'])}`;
}

/**
 * A sentence for each kind of personal data.
 * @param web undefined where there is no web configuration
 */
export function exposureWarnings(
  { settings, nameOf }: Pick<Config, 'settings' | 'nameOf'>,
  plan: Plan,
  web: WebConfig | undefined,
): readonly string[] {
  // Who may reach a socket of systemd is said elsewhere.
  if (!settings.metricsHttpEnabled || settings.metricsSystemdSocket) return [];
  if (web !== undefined && authenticatesClients(web)) return [];
  const open = listenAddresses(settings, []).find(
    (address) => 'host' in address && !isLocalAddress(address),
  );
  if (open === undefined) return [];
  const personal = [...new Set(plan.flatMap(personalOf))];
  const uncatalogued = plan.filter(
    ({ catalogue, definition }) => catalogue !== undefined && definition.showsUncatalogued,
  );
  const apps = [...new Set(uncatalogued.map(({ definition }) => definition.app))];
  const served =
    `served to every machine that can connect; listen on 127.0.0.1 only, as ${nameOf(['metrics_listen_addresses'])} can say, ` +
    `ask for passwords by ${nameOf(['web_config_file'])}`;
  return [
    ...(personal.length === 0
      ? []
      : [`${personal.join(', ')}: personal data, ${served}, or leave its class out by classes`]),
    ...(apps.length === 0
      ? []
      : [
          `texts of ${apps.join(', ')} that no row reads (show_uncatalogued): perhaps personal data, ${served}`,
        ]),
  ];
}

/** Names of the metrics with personal data that a target can show. */
function personalOf({ catalogue, definition: { classes } }: Plan[number]): readonly string[] {
  const chosen = (catalogue?.classes ?? []).filter(
    ({ alias }) => classes.length === 0 || classes.includes(alias),
  );
  return chosen.flatMap(({ rows }) =>
    rows.filter(({ isPersonal }) => isPersonal).map(({ family }) => family.name),
  );
}

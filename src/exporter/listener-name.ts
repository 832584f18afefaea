// Which settings say where the HTTP listener listens, for messages about it.
import type { Config } from '../config/resolve.js';

export function listenerName({ settings, nameOf }: Pick<Config, 'settings' | 'nameOf'>): string {
  if (settings.metricsSystemdSocket) return nameOf(['metrics_systemd_socket']);
  if (settings.metricsListenAddresses.length > 0) return nameOf(['metrics_listen_addresses']);
  return `${nameOf(['metrics_port'])} and ${nameOf(['metrics_bind_address'])}`;
}

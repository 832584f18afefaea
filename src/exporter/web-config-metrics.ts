// What the process knows of its web configuration, as metrics.
import type { SelfMetrics } from '../sinks/self-metrics.js';
import type { WebConfigNews } from '../web-config/watched-web-config.js';

/** Makes a function that takes each attempt to read the web configuration. */
export function webConfigMetrics(
  metrics: Pick<SelfMetrics, 'gauge'>,
): (news: WebConfigNews) => void {
  const isRead = metrics.gauge(
    'shm_exporter_web_config_last_reload_successful',
    '1 when the web configuration and its files are in use as they are now, 0 when they were refused.',
  );
  let expiry: ((value: number) => void) | undefined;
  return ({ isInUse, current: { tls } }) => {
    isRead(Number(isInUse));
    // A gauge without labels is 0 from its beginning.
    if (tls === null) return;
    expiry ??= metrics.gauge(
      'shm_exporter_certificate_expiry_timestamp_seconds',
      'When the first of the certificates of the server in use expires, as a Unix timestamp.',
    );
    expiry(tls.expiryMs / 1000);
  };
}

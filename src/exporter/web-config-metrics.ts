// Metrics of the web configuration: the last reload, and the expiry of certificates.
import type { SelfMetrics } from '../sinks/self-metrics.js';
import type { WebConfigNews } from '../web-config/watched-web-config.js';

/** Makes a function that sets the metrics after each attempt to read the web configuration. */
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
    // Made with the first certificate only: a gauge without labels starts at 0.
    if (tls === null) return;
    expiry ??= metrics.gauge(
      'shm_exporter_certificate_expiry_timestamp_seconds',
      'When the first of the certificates of the server in use expires, as a Unix timestamp.',
    );
    expiry(tls.expiryMs / 1000);
  };
}

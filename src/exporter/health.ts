// Checks whether the exporter of a configuration, which runs as another process, works.
import { statSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Config } from '../config/resolve.js';
import { Fault, isSystemError, messageOf } from '../errors.js';
import { authorityOf } from '../sinks/http/listen-address.js';
import type { ServerTls } from '../web-config/server-tls.js';
import { readWebConfig } from '../web-config/web-config.js';
import { listenAddresses } from './listeners.js';
import { textfileOf } from './sinks.js';

/** An exporter that takes longer to answer is not healthy. */
const ANSWER_MS = 3000;
/** A textfile that was not written for so many intervals is too old. */
const MISSED_INTERVALS = 3;
/** TLS alerts that tell a client without a certificate that it needs one: in TLS 1.2 and in TLS 1.3. */
const NO_CERTIFICATE = /SSL alert number (40|116)\b/;

/**
 * Returns why the exporter of a configuration does not work; empty if it works. One that prints to stdout cannot
 * be checked, and counts as working.
 * @throws Fault USAGE if the configuration does not say where it listens
 */
export async function illnessOf({ settings, nameOf }: Config, unixMs: number): Promise<string> {
  if (!settings.metricsHttpEnabled)
    return settings.textfileDir === ''
      ? ''
      : textfileIllness(textfileOf(settings), settings.metricsIntervalSeconds, unixMs);
  if (settings.metricsSystemdSocket)
    throw new Fault(
      'USAGE',
      `${nameOf(['metrics_systemd_socket'])}: only the .socket unit defines where the exporter listens; request /-/healthy there`,
    );
  const { webConfigFile } = settings;
  const tls = webConfigFile === '' ? null : readWebConfig(webConfigFile).tls;
  for (const address of listenAddresses(settings, [])) {
    if ('fd' in address) continue;
    const illness = await listenerIllness(tls, localOf(address.host), address.port);
    if (illness !== '') return illness;
  }
  return '';
}

function textfileIllness(path: string, intervalSeconds: number, unixMs: number): string {
  try {
    const seconds = (unixMs - statSync(path).mtimeMs) / 1000;
    if (seconds <= MISSED_INTERVALS * intervalSeconds) return '';
    return `${path} was last written ${Math.round(seconds)} s ago, but should be written every ${intervalSeconds} s`;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `${path} cannot be read: ${messageOf(error)}`;
  }
}

/** The address to connect to: the loopback address if the listener has all addresses of this host. */
function localOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Any answer counts, even a refusal: this process has neither a password nor a client certificate. */
function listenerIllness(tls: ServerTls | null, host: string, port: number): Promise<string> {
  const needsCertificate =
    tls?.clientAuth === 'RequireAnyClientCert' || tls?.clientAuth === 'RequireAndVerifyClientCert';
  const url = `${tls ? 'https' : 'http'}://${authorityOf(host, port)}/-/healthy`;
  return new Promise((resolve) => {
    let isSecured = false;
    const options = { agent: false, rejectUnauthorized: false };
    const sent = (tls ? tlsRequest : plainRequest)(url, options);
    const end = (illness: string): void => {
      clearTimeout(late);
      sent.destroy();
      resolve(illness);
    };
    const late = setTimeout(end, ANSWER_MS, `${url} does not answer within ${ANSWER_MS} ms`);
    sent.once('socket', (socket) => {
      socket.once('secureConnect', () => (isSecured = true));
    });
    sent.once('response', () => {
      end('');
    });
    sent.on('error', (error) => {
      // A listener may refuse a client without a certificate during the handshake or after it.
      const isRefused = needsCertificate && (isSecured || NO_CERTIFICATE.test(error.message));
      end(isRefused ? '' : `${url} does not answer: ${error.message}`);
    });
    sent.end();
  });
}

// Checks the health of the exporter that runs in another process with the same configuration.
import { statSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Config } from '../config/resolve.js';
import { Fault, isSystemError, messageOf } from '../errors.js';
import { authorityInUrl } from '../sinks/http/http-server.js';
import type { ServerTls } from '../web-config/server-tls.js';
import { readWebConfig } from '../web-config/web-config.js';
import { listenAddresses } from './listeners.js';
import { textfileOf } from './sinks.js';

/** The longest response time of a healthy exporter. */
const ANSWER_MS = 3000;
/** The textfile of a healthy exporter is at most this many write intervals old. */
const MAX_INTERVALS = 3;
/** The TLS alerts to a client without the required certificate, in TLS 1.2 and TLS 1.3. */
const NO_CERTIFICATE = /SSL alert number (40|116)\b/;

/**
 * Returns why the exporter of a configuration is unhealthy; empty if it is healthy. An exporter that prints to stdout
 * cannot be checked and counts as healthy.
 * @throws Fault USAGE if the configuration has no address because systemd passes the sockets
 */
export async function healthProblem({ settings, nameOf }: Config, unixMs: number): Promise<string> {
  if (!settings.metricsHttpEnabled)
    return settings.textfileDir === ''
      ? ''
      : textfileProblem(textfileOf(settings), settings.metricsIntervalSeconds, unixMs);
  if (settings.metricsSystemdSocket)
    throw new Fault(
      'USAGE',
      `${nameOf(['metrics_systemd_socket'])}: only the .socket unit defines where the exporter listens; request /-/healthy at an address of that unit`,
    );
  const { webConfigFile } = settings;
  const tls = webConfigFile === '' ? null : readWebConfig(webConfigFile).tls;
  for (const address of listenAddresses(settings, [])) {
    if ('fd' in address) continue;
    const problem = await listenerProblem(tls, connectHost(address.host), address.port);
    if (problem !== '') return problem;
  }
  return '';
}

function textfileProblem(path: string, intervalSeconds: number, unixMs: number): string {
  try {
    const seconds = (unixMs - statSync(path).mtimeMs) / 1000;
    if (seconds <= MAX_INTERVALS * intervalSeconds) return '';
    return `${path} was last written ${Math.round(seconds)} s ago, but should be written every ${intervalSeconds} s`;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return `${path} cannot be read: ${messageOf(error)}`;
  }
}

/** The address to connect to: the loopback address if the listener binds all addresses of this host. */
function connectHost(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/**
 * Why the listener does not answer; empty if it does. A refusal is an answer too, since this process has no
 * credentials.
 */
function listenerProblem(tls: ServerTls | null, host: string, port: number): Promise<string> {
  const needsCertificate =
    tls?.clientAuth === 'RequireAnyClientCert' || tls?.clientAuth === 'RequireAndVerifyClientCert';
  const path = '/-/healthy';
  const url = `${tls ? 'https' : 'http'}://${authorityInUrl(host, port)}${path}`;
  return new Promise((resolve) => {
    let isSecured = false;
    // Pass host and port, not the URL: Node.js rejects a URL with an IPv6 zone.
    const options = { host, port, path, agent: false, rejectUnauthorized: false };
    const sent = (tls ? tlsRequest : plainRequest)(options);
    const end = (problem: string): void => {
      clearTimeout(late);
      sent.destroy();
      resolve(problem);
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

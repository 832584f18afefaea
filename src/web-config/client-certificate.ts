// Whether a client may speak, by the certificate that it showed.
import type { TLSSocket } from 'node:tls';
import type { ServerTls } from './server-tls.js';

/** Node asks clients for a certificate, and where this is true ends connections without a good one. */
export const asksClients = ({ clientAuth }: ServerTls) => ({
  requestCert: clientAuth !== 'NoClientCert',
  rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
});

/** True for connections that may go on; the others are to be ended. */
export function isWelcome(socket: TLSSocket, { clientAuth, allowedSans }: ServerTls): boolean {
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return true;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return clientAuth === 'VerifyClientCertIfGiven';
  if (clientAuth === 'RequireAnyClientCert') return true;
  if (!socket.authorized) return false;
  if (allowedSans.length === 0) return true;
  const names = certificate.subjectAltName?.split(', ') ?? [];
  // `DNS:name`, `IP Address:1.2.3.4`, `URI:…`, `email:…`
  return names.some((name) => allowedSans.includes(name.slice(name.indexOf(':') + 1)));
}

// The TLS options of a server, and the authorization of clients by certificate.
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { readText } from '../document/text-file.js';
import { messageOf } from '../errors.js';
import type { Fault } from '../errors.js';
import { CIPHER_SUITES, CURVES, TLS_VERSIONS } from './web-config-rule.js';
import type { TlsTable } from './web-config-rule.js';

export interface ServerTls {
  /** The options of the TLS context that new connections use. */
  readonly context: SecureContextOptions;
  readonly clientAuth: TlsTable['clientAuthType'];
  readonly allowedSans: readonly string[];
  /** The earliest expiry of the certificates of the server, in Unix milliseconds. */
  readonly expiryMs: number;
  readonly files: readonly string[];
}

/** Makes a fault from a sentence about the TLS settings, or about one of their keys. */
type MakeFault = (sentence: string, key?: string) => Fault;

const VERIFYING = new Set(['VerifyClientCertIfGiven', 'RequireAndVerifyClientCert']);

/**
 * Reads the files of the TLS settings, and checks that they fit together.
 * @param resolvePath makes paths absolute
 * @throws the fault of `refused` for files that are missing, cannot be read or do not fit together
 */
export function serverTls(
  table: TlsTable,
  resolvePath: (path: string) => string,
  refused: MakeFault,
): ServerTls {
  const { clientAuthType, clientAllowedSans: sans, minVersion, maxVersion } = table;
  const pem = (name: string, inline: string, file: string): Pem | undefined => {
    if (inline !== '' && file !== '') throw refused(`has both ${name} and ${name}_file`);
    if (inline !== '') return { key: name, origin: name, text: () => inline };
    const path = resolvePath(file);
    const key = `${name}_file`;
    const refusal = (place: string, clause: string) => refused(`${place}: ${clause}`, key);
    const text = () => readText(path, { refusal });
    return path === '' ? undefined : { key, origin: path, file: path, text };
  };
  const cert = pem('cert', table.cert, table.certFile);
  const key = pem('key', table.key, table.keyFile);
  const ca = pem('client_ca', table.clientCa, table.clientCaFile);
  if (cert === undefined || key === undefined) throw refused('needs cert_file and key_file');
  const isVerifying = VERIFYING.has(clientAuthType);
  if (isVerifying && ca === undefined)
    throw refused(`client_auth_type ${clientAuthType} needs client_ca_file`);
  if (!isVerifying && ca !== undefined)
    throw refused(`client_ca_file needs a client_auth_type that verifies, found ${clientAuthType}`);
  if (!isVerifying && sans.length > 0)
    throw refused('client_allowed_sans needs a client_auth_type that verifies');
  if (minVersion > maxVersion) throw refused(`min_version ${minVersion} is above ${maxVersion}`);
  const context = {
    cert: certificates(cert, refused),
    key: privateKey(key, refused),
    ...(ca && { ca: certificates(ca, refused) }),
    minVersion: TLS_VERSIONS[minVersion],
    maxVersion: TLS_VERSIONS[maxVersion],
    honorCipherOrder: table.preferServerCipherSuites,
    ...(table.cipherSuites.length > 0 && {
      ciphers: table.cipherSuites.map((name) => CIPHER_SUITES[name]).join(':'),
    }),
    ...(table.curvePreferences.length > 0 && {
      ecdhCurve: table.curvePreferences.map((name) => CURVES[name]).join(':'),
    }),
  };
  try {
    createSecureContext(context);
  } catch (thrown) {
    throw refused(`${cert.origin} and ${key.origin} cannot be used together: ${messageOf(thrown)}`);
  }
  const files = [cert, key, ca].flatMap((each) => each?.file ?? []);
  const expiryMs = firstExpiry(context.cert);
  return { context, clientAuth: clientAuthType, allowedSans: sans, expiryMs, files };
}

/** PEM text in a file or in the configuration itself. */
interface Pem {
  /** The configuration key with the text or the path of its file. */
  readonly key: string;
  /** The path of the text's file; the key if the configuration itself contains the text. */
  readonly origin: string;
  readonly file?: string;
  readonly text: () => string;
}

function certificates({ key, origin, text }: Pem, refused: MakeFault): string {
  const pem = text();
  if (works(() => new X509Certificate(pem))) return pem;
  throw refused(`${origin} has no certificate in PEM`, key);
}

/** The earliest expiry of a certificate and its chain, in Unix milliseconds. */
function firstExpiry(pem: string): number {
  const all = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [pem];
  return Math.min(...all.map((each) => Date.parse(new X509Certificate(each).validTo)));
}

function privateKey({ key, origin, text }: Pem, refused: MakeFault): string {
  const pem = text();
  if (works(() => createPrivateKey(pem))) return pem;
  throw refused(`${origin} has no private key in PEM that is readable without a password`, key);
}

/** Whether a function returns without throwing. */
function works(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** The options of the TLS server that request and require client certificates. */
export const certificateOptions = ({ clientAuth }: ServerTls) => ({
  requestCert: clientAuth !== 'NoClientCert',
  rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
});

/** Whether the client of a connection has the certificate that the settings require. */
export function isAuthorized(socket: TLSSocket, { clientAuth, allowedSans }: ServerTls): boolean {
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

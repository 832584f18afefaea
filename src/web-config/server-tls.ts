// The TLS options of a server, and the authorization of clients by certificate.
import { createPrivateKey } from 'node:crypto';
import type { KeyObject, X509Certificate } from 'node:crypto';
import { SocketAddress, isIPv6 } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions, TLSSocket } from 'node:tls';
import { checkedCertificates } from '../document/certificates.js';
import { readText } from '../document/text-file.js';
import { messageOf } from '../errors.js';
import type { Fault } from '../errors.js';
import { CIPHER_SUITES, CURVES, TLS_VERSIONS } from './web-config-rule.js';
import type { TlsTable } from './web-config-rule.js';

export interface ServerTls {
  readonly options: SecureContextOptions;
  /** The TLS context that new connections use, made from `options`. */
  readonly context: SecureContext;
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
  const chain = certificates(cert, refused);
  const ownKey = privateKey(key, refused);
  checkPair(chain, ownKey, (sentence) =>
    refused(`${key.origin} ${sentence} ${cert.origin}`, key.key),
  );
  const options = {
    cert: chain.pem,
    key: ownKey.pem,
    // As in Go, trust each certificate of the file by itself, even if it is not self-signed.
    ...(ca && { ca: certificates(ca, refused).pem, allowPartialTrustChain: true }),
    sessionIdContext: SESSION_ID_CONTEXT,
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
  const files = [cert, key, ca].flatMap((each) => each?.file ?? []);
  return {
    options,
    context: contextOf(options, `${cert.origin} and ${key.origin}`, refused),
    clientAuth: clientAuthType,
    allowedSans: sans,
    expiryMs: Math.min(...chain.certificates.map(({ validTo }) => Date.parse(validTo))),
    files,
  };
}

/** TLS sessions of clients with certificates need a context id. Any value will do. */
const SESSION_ID_CONTEXT = 'shm_exporter';

function contextOf(
  options: SecureContextOptions,
  origins: string,
  refused: MakeFault,
): SecureContext {
  try {
    return createSecureContext(options);
  } catch (thrown) {
    throw refused(`${origins} cannot be used together: ${messageOf(thrown)}`);
  }
}

/** PEM text in a file or in the configuration itself. */
interface Pem {
  /** The configuration key that holds the text, or the path of a file with the text. */
  readonly key: string;
  /** The path of the text's file; the key if the configuration itself contains the text. */
  readonly origin: string;
  readonly file?: string;
  readonly text: () => string;
}

interface Certificates {
  readonly pem: string;
  readonly certificates: readonly X509Certificate[];
}

function certificates({ key, origin, text }: Pem, refused: MakeFault): Certificates {
  const pem = text();
  return {
    pem,
    certificates: checkedCertificates(pem, (clause) => refused(`${origin}: ${clause}`, key)),
  };
}

interface PrivateKey {
  readonly pem: string;
  readonly object: KeyObject;
}

function privateKey({ key, origin, text }: Pem, refused: MakeFault): PrivateKey {
  const pem = text();
  try {
    return { pem, object: createPrivateKey(pem) };
  } catch {
    throw refused(`${origin} has no private key in PEM that is readable without a password`, key);
  }
}

/** Checks that a key belongs to the first certificate. @param refused makes a fault from a clause about the key */
function checkPair(
  { certificates: [first, ...others] }: Certificates,
  { object }: PrivateKey,
  refused: (relation: string) => Fault,
): void {
  if (first?.checkPrivateKey(object) !== false) return;
  if (others.some((each) => each.checkPrivateKey(object)))
    throw refused('does not belong to the first certificate, but to a later one, in');
  throw refused('does not belong to the certificate in');
}

/** The options of the TLS server that request and require client certificates. */
export const certificateOptions = ({ clientAuth }: ServerTls) => ({
  requestCert: clientAuth !== 'NoClientCert',
  rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
});

/** Returns why the settings refuse the certificate of a client; undefined if they accept it. */
export function certificateRefusal(socket: TLSSocket, { clientAuth, allowedSans }: ServerTls) {
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined)
    return clientAuth === 'VerifyClientCertIfGiven' ? undefined : 'no_certificate';
  if (clientAuth === 'RequireAnyClientCert') return undefined;
  if (!socket.authorized) return 'not_verified';
  const names = certificate.subjectAltName?.split(', ') ?? [];
  if (allowedSans.length === 0 || names.some((name) => allowedSans.includes(plainName(name))))
    return undefined;
  return 'name_not_allowed';
}

const IP = 'IP Address:';

/** The name in `DNS:name`, `IP Address:1.2.3.4`, `URI:…` or `email:…`. OpenSSL writes IPv6 addresses without `::`. */
function plainName(san: string): string {
  const name = san.slice(san.indexOf(':') + 1);
  if (!san.startsWith(IP) || !isIPv6(name)) return name;
  return new SocketAddress({ address: name, family: 'ipv6' }).address;
}

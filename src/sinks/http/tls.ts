// The TLS server, and the reasons why handshakes fail and certificates of clients are refused.
import type { ServerOptions } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';

/** The TLS settings of a listener and its check of client certificates. */
export interface GuardTls {
  /** Whether the server requests a client certificate, and whether it requires a valid one. */
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  /** The secure context of the next connection. */
  readonly context: () => SecureContext;
  /** Why the server closes a connection after its handshake; undefined to keep it. */
  readonly certificateRefusal: (socket: TLSSocket) => CertificateRefusal | undefined;
}

/** Makes an HTTPS server. @param onFailed called for each connection that ends before its first request */
export function tlsServer(
  tls: GuardTls,
  options: ServerOptions,
  onFailed: (handshake: FailedHandshake) => void,
): Server {
  const { requestCert, rejectUnauthorized } = tls;
  const handshakeTimeout = options.headersTimeout;
  const server = createServer({ ...options, requestCert, rejectUnauthorized, handshakeTimeout });
  // Set the context before the server accepts a connection, so that the connection gets a renewed certificate.
  server.prependListener('connection', (socket) => {
    useContext(server, tls.context());
    // Node.js reads the address at the first access, and then knows it also after the end of the connection.
    Reflect.get(socket, 'remoteAddress');
  });
  server.prependListener('secureConnection', (socket) => {
    const refusal = tls.certificateRefusal(socket);
    if (refusal === undefined) return;
    onFailed(refusedCertificate(socket, refusal));
    socket.destroy();
  });
  // The default listener of Node.js would emit the error again, as `clientError`.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error, socket) => {
    const handshake = failedHandshake(error, socket);
    if (handshake?.error === 'plain_http') rawSocket(socket).end(NO_TLS);
    if (handshake !== undefined) onFailed(handshake);
    socket.destroy();
  });
  return server;
}

/** The response to a request without TLS, with the same text as Go's HTTP server. */
const NO_TLS = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n';

/**
 * Sets the context of new connections. `setSecureContext` of Node.js 20 to 26 ignores `allowPartialTrustChain`, so this
 * function sets the private field of the server instead. If a version of Node.js renames the field, every handshake
 * fails.
 */
function useContext(server: Server, context: SecureContext): void {
  Object.assign(server, { _sharedCreds: context });
}

/**
 * Why a handshake failed: for each reason a clause about the client. The keys are label values, so they must not
 * change.
 */
export const HANDSHAKE_ERRORS = {
  no_certificate: 'it sent no certificate',
  untrusted_certificate: 'client_ca_file has no authority that signed its certificate',
  expired_certificate:
    'its certificate, or the certificate of an authority that signed it, is not valid at this time',
  invalid_certificate: 'its certificate is not valid for clients, or is invalid for another reason',
  name_not_allowed: 'its certificate has none of the names in client_allowed_sans',
  rejected_by_client: 'it rejects the certificate of the exporter',
  plain_http: 'it sent a request without TLS',
  protocol: 'it does not speak TLS, or supports no version, cipher or curve that is allowed here',
  timeout: 'it did not complete the handshake in time',
  disconnected: 'it closed the connection before the end of the handshake',
} as const satisfies Readonly<Record<string, string>>;

export type HandshakeError = keyof typeof HANDSHAKE_ERRORS;

/** A client whose TLS connection ended before its first request. */
export interface FailedHandshake {
  readonly error: HandshakeError;
  /** The error text of OpenSSL or Node.js; empty if `error` is specific enough. */
  readonly detail: string;
  /** The address of the client; undefined if it has none, for example over a UNIX socket. */
  readonly address: string | undefined;
}

/** Maps the error codes of OpenSSL and Node.js to reasons. The first matching pattern wins. */
const PATTERNS: readonly (readonly [RegExp, HandshakeError])[] = [
  [/^ERR_SSL_HTTP_REQUEST$/, 'plain_http'],
  [/^ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE$/, 'no_certificate'],
  [/^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA)/, 'rejected_by_client'],
  [/^ERR_TLS_HANDSHAKE_TIMEOUT$/, 'timeout'],
  [/^(ERR_SSL|ERR_OSSL|ERR_TLS|EPROTO)/, 'protocol'],
  [/^/, 'disconnected'],
];

/** Maps the error codes of certificate verification to reasons. The first matching pattern wins. */
const OF_CERTIFICATE: readonly (readonly [RegExp, HandshakeError])[] = [
  [/EXPIRED|NOT_YET_VALID/, 'expired_certificate'],
  [/ISSUER|SELF_SIGNED|VERIFY_LEAF|UNTRUSTED/, 'untrusted_certificate'],
  [/^/, 'invalid_certificate'],
];

const firstMatch = (
  patterns: readonly (readonly [RegExp, HandshakeError])[],
  code: string,
): HandshakeError => patterns.find(([pattern]) => pattern.test(code))?.[1] ?? 'disconnected';

/**
 * The failure that an event `tlsClientError` reports; undefined for a client that sent nothing, such as a TCP probe.
 */
function failedHandshake(
  error: Error & { readonly code?: string; readonly reason?: string },
  socket: TLSSocket,
): FailedHandshake | undefined {
  const raw = rawSocket(socket);
  if (raw.bytesRead === 0) return undefined;
  const address = plainAddress(raw);
  if (isVerified(socket)) return { ...certificateError(socket), address };
  const { code = '', reason = '' } = error;
  return { error: firstMatch(PATTERNS, code), detail: reason, address };
}

/** The failed handshake of a client whose certificate is missing or has no allowed name. */
const refusedCertificate = (socket: TLSSocket, refusal: CertificateRefusal): FailedHandshake => ({
  ...(refusal === 'not_verified' ? certificateError(socket) : { error: refusal, detail: '' }),
  address: plainAddress(socket),
});

type CertificateRefusal = 'no_certificate' | 'not_verified' | 'name_not_allowed';

const isVerified = ({ authorizationError }: TLSSocket): boolean => Boolean(authorizationError);

function certificateError(socket: TLSSocket): Pick<FailedHandshake, 'error' | 'detail'> {
  // The type of this property is Error, but Node.js sets it to an error code.
  const code = String(socket.authorizationError);
  return { error: firstMatch(OF_CERTIFICATE, code), detail: code };
}

/**
 * The TCP socket below a TLS socket, from a private field. If a version of Node.js renames the field, and for other
 * sockets, returns the socket itself.
 */
export const rawSocket = (socket: Socket): Socket =>
  (socket as { readonly _parent?: Socket })._parent ?? socket;

/** The address of a client. An IPv4-mapped IPv6 address becomes an IPv4 address. */
const plainAddress = ({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | undefined =>
  remoteAddress?.replace(/^::ffff:/, '');

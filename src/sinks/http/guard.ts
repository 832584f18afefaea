// Who may connect, and who may ask.
import type { IncomingMessage } from 'node:http';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Observable } from 'rxjs';
import type { HeaderFields, Reply } from './reply.js';

export interface GuardTls {
  /** Whether clients are asked for a certificate, and whether those without a valid one are ended. */
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  /** For the next connection; another object when it changed. */
  readonly context: () => SecureContextOptions;
  /** Whether a client that completed the handshake may go on. */
  readonly isWelcome: (socket: TLSSocket) => boolean;
}

export interface Guard {
  /** Undefined for plain HTTP. */
  readonly tls: GuardTls | undefined;
  /** Whether every client that is let in has shown who it is. */
  readonly knowsClients: () => boolean;
  /** Of every answer. */
  readonly headers: () => HeaderFields;
  /** Emits once: the refusal of a request, or undefined. Undefined itself where everybody may ask. */
  readonly refusal: ((request: IncomingMessage) => Observable<Reply | undefined>) | undefined;
}

/** Lets everybody in. */
export const NO_GUARD: Guard = {
  tls: undefined,
  knowsClients: () => false,
  headers: () => ({}),
  refusal: undefined,
};

// How a component answers: its address, its key, and the options of the protocol.
import type { OddityName } from './oddities.js';

export interface ComponentOptions {
  /** Path before `/sharedmem`, such as `/rtds`. Default empty. */
  readonly base?: string;
  /** Required value of the header Security-Key. Default: none is required. */
  readonly securityKey?: string | undefined;
  /** Status for requests without the key. Default 401. */
  readonly refusalStatus?: 401 | 403;
  /** PEM texts; with them it serves HTTPS. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Encoding for clients that accept deflate: zlib-wrapped, raw deflate or gzip. Default zlib. */
  readonly compression?: Compression;
  /** Chunks in place of a Content-Length. Default false. */
  readonly isChunked?: boolean;
  /** Keeps connections open for further requests. Default false. */
  readonly keepsAlive?: boolean;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Delay before every answer. Default 0. */
  readonly latencyMs?: number;
  /** Delay of the fault `slow`. Default 4000. */
  readonly slowMs?: number;
  /** Delay between two bytes of the fault `drip`. Default 200. */
  readonly dripMs?: number;
  /** Default none. */
  readonly oddities?: Iterable<OddityName>;
}

export type Compression = 'zlib' | 'raw' | 'gzip';

export const DEFAULTS = {
  base: '',
  securityKey: undefined,
  refusalStatus: 401,
  tls: undefined,
  compression: 'zlib',
  isChunked: false,
  keepsAlive: false,
  contentType: 'application/json',
  latencyMs: 0,
  slowMs: 4000,
  dripMs: 200,
  oddities: [],
} as const satisfies Required<ComponentOptions>;

// The HTTP server of a simulated component. It serves a tree as JSON like the vendor's programs.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { Fault, messageOf } from '#app/errors.js';
import type { ServedTree } from './served-tree.js';
import { vendorJson, vendorObject } from './vendor-json.js';

const ADDRESS = '127.0.0.1';
const MAX_CONNECTIONS = 512;

export interface ComponentOptions {
  /** Path before `/sharedmem`, such as `/rtds`. Default empty. */
  readonly base?: string;
  /** Required value of the header Security-Key. Default: none is required. */
  readonly securityKey?: string | undefined;
  /** PEM texts; with them it serves HTTPS. */
  readonly tls?: TlsPair | undefined;
}

export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Serves a tree on 127.0.0.1. Each request gets the current values. */
export class ComponentServer {
  readonly #tree: ServedTree;
  readonly #base: string;
  readonly #securityKey: string | undefined;
  readonly #scheme: string;
  readonly #server: Server;

  /** @throws Fault USAGE if the certificate or the key cannot be used */
  constructor(tree: ServedTree, { base = '', securityKey, tls }: ComponentOptions = {}) {
    this.#tree = tree;
    this.#base = base;
    this.#securityKey = securityKey;
    this.#scheme = tls === undefined ? 'http' : 'https';
    this.#server = tls === undefined ? createServer() : secureServer(tls);
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response);
    });
  }

  /** Listens on a port; 0 takes a free one. @throws Fault LISTENER_FAILED */
  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.on('error', (error) => {
        const what = `Cannot listen on ${ADDRESS}:${port}: ${error.message}`;
        reject(new Fault('LISTENER_FAILED', what, { cause: error }));
      });
      this.#server.listen(port, ADDRESS, resolve);
    });
  }

  /** The address above `/sharedmem`: scheme, address, port and base. Listen first. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://${ADDRESS}:${port}${this.#base}`;
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer({ method, url = '', headers }: IncomingMessage, response: ServerResponse): void {
    response.setHeader('Connection', 'close');
    const refuse = (status: number, text: string) =>
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`);
    if (this.#securityKey !== undefined && headers['security-key'] !== this.#securityKey)
      return void refuse(401, 'Security-Key is missing or wrong');
    if (method !== 'GET') {
      response.setHeader('Allow', 'GET');
      return void refuse(405, 'Only GET is known');
    }
    if (url.split('?')[0] !== `${this.#base}/sharedmem`)
      return void refuse(404, 'There is nothing here');
    const text = Buffer.from(vendorJson(Array.from(this.#tree.roots, vendorObject)));
    const isDeflated = acceptsDeflate(headers['accept-encoding']);
    const body = isDeflated ? deflateSync(text) : text;
    if (isDeflated) response.setHeader('Content-Encoding', 'deflate');
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('Content-Length', body.length).end(body);
  }
}

function secureServer(tls: TlsPair): Server {
  try {
    return createSecureServer(tls);
  } catch (error) {
    throw new Fault('USAGE', `The certificate and its key cannot be used: ${messageOf(error)}`);
  }
}

/** True if an Accept-Encoding allows deflate. */
export const acceptsDeflate = (header = ''): boolean =>
  header
    .split(',')
    .some((each) => /^\s*deflate\s*(;|$)/i.test(each) && !/;\s*q=0(\.0*)?\s*$/i.test(each));

// The HTTP server of a simulated component. It serves a tree as JSON, as the vendor's programs do.
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
  /** The path before `/sharedmem`, such as `/rtds`. The default is empty. */
  readonly base?: string;
  /** The required value of the header Security-Key. By default the server requires none. */
  readonly securityKey?: string | undefined;
  /** The certificate and key as PEM texts. If they are given, the server uses HTTPS. */
  readonly tls?: TlsPair | undefined;
}

export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Serves a tree on 127.0.0.1. Each response has the current values. */
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

  /** Listens on a port; with port 0, on any free port. @throws Fault LISTENER_FAILED */
  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.on('error', (error) => {
        const what = `Cannot listen on ${ADDRESS}:${port}: ${error.message}`;
        reject(new Fault('LISTENER_FAILED', what, { cause: error }));
      });
      this.#server.listen(port, ADDRESS, resolve);
    });
  }

  /** The URL without `/sharedmem`: scheme, address, port and base. It exists only after `listen`. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://${ADDRESS}:${port}${this.#base}`;
  }

  /** Closes the server and all its connections at once. */
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
      return void refuse(405, 'Only GET is allowed');
    }
    if (url.split('?')[0] !== `${this.#base}/sharedmem`)
      return void refuse(404, 'No tree at this path');
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

/** Whether an Accept-Encoding header allows deflate. */
export const acceptsDeflate = (header = ''): boolean =>
  header
    .split(',')
    .some((each) => /^\s*deflate\s*(;|$)/i.test(each) && !/;\s*q=0(\.0*)?\s*$/i.test(each));

// A component for tests: its options, its answers, and one exchange with a client.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflate, deflateRaw, gzip } from 'node:zlib';
import { messageOf } from '#app/errors.js';
import { acceptsDeflate } from '#app/simulator/component/component-server.js';
import type { ComponentOptions } from '#app/simulator/component/component-server.js';
import type { ServedTree } from '#app/simulator/component/served-tree.js';
import { vendorObject } from '#app/simulator/component/vendor-json.js';
import type { VendorObject } from '#app/simulator/component/vendor-json.js';
import { OddityFilter } from './oddities.js';
import type { OddityName } from './oddities.js';

export interface TestComponentOptions extends ComponentOptions {
  /** The encoding for clients that accept deflate: zlib-wrapped, raw deflate or gzip. Default zlib. */
  readonly compression?: Compression;
  /** Sends chunks instead of a Content-Length. Default false. */
  readonly isChunked?: boolean;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** The delay of the fault `slow`. Default 4000. */
  readonly slowMs?: number;
  /** The delay between two bytes of the fault `drip`. Default 200. */
  readonly dripMs?: number;
  /** Default none. */
  readonly oddities?: Iterable<OddityName>;
  /** Called with each request. */
  readonly onRequest?: (request: IncomingMessage) => void;
}

type Compression = 'zlib' | 'raw' | 'gzip';

export const DEFAULTS = {
  base: '',
  securityKey: undefined,
  tls: undefined,
  compression: 'zlib',
  isChunked: false,
  contentType: 'application/json',
  slowMs: 4000,
  dripMs: 200,
  oddities: [],
  onRequest: () => undefined,
} as const satisfies Required<TestComponentOptions>;

/** The answer to a request, independent of the connection. */
export interface HttpAnswer {
  readonly status: number;
  /** All headers except Content-Length and Connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const plainAnswer = (
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = { 'Content-Type': 'text/plain' },
): HttpAnswer => ({ status, headers, body: Buffer.from(text) });

export const NO_CONTENT: HttpAnswer = { status: 204, headers: {}, body: Buffer.alloc(0) };

const COMPRESSIONS = {
  zlib: { encoding: 'deflate', compress: promisify<Buffer, Buffer>(deflate) },
  raw: { encoding: 'deflate', compress: promisify<Buffer, Buffer>(deflateRaw) },
  gzip: { encoding: 'gzip', compress: promisify<Buffer, Buffer>(gzip) },
} as const;

async function compressed(answer: HttpAnswer, compression: Compression): Promise<HttpAnswer> {
  const { encoding, compress } = COMPRESSIONS[compression];
  const headers = { ...answer.headers, 'Content-Encoding': encoding };
  return { ...answer, headers, body: await compress(answer.body) };
}

/** The parts of a request that an answer depends on. */
type ComponentRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export class Component {
  readonly tree: ServedTree;
  readonly options: Required<TestComponentOptions>;
  readonly #oddities: OddityFilter;

  constructor(tree: ServedTree, options: Required<TestComponentOptions>) {
    this.tree = tree;
    this.options = options;
    this.#oddities = new OddityFilter(options.oddities);
  }

  /** The roots that the tree has now, without oddities. */
  roots(): readonly VendorObject[] {
    return Array.from(this.tree.roots, vendorObject);
  }

  /** Writes objects of the tree as JSON, with oddities. */
  text(objects: readonly VendorObject[]): string {
    return this.#oddities.text(this.#oddities.tree(objects));
  }

  async answer(request: ComponentRequest, roots = this.roots()): Promise<HttpAnswer> {
    const { securityKey, compression } = this.options;
    if (securityKey !== undefined && request.headers['security-key'] !== securityKey)
      return plainAnswer(401, 'Security-Key is missing or wrong\n');
    if (request.method !== 'GET')
      return plainAnswer(405, 'Only GET is allowed\n', {
        'Content-Type': 'text/plain',
        Allow: 'GET',
      });
    const answer = this.#show(request.url ?? '', roots);
    const canDeflate = acceptsDeflate(request.headers['accept-encoding']);
    return canDeflate && answer.status === 200 ? compressed(answer, compression) : answer;
  }

  #show(url: string, roots: readonly VendorObject[]): HttpAnswer {
    const { base, contentType } = this.options;
    const [path = ''] = url.split('?');
    if (path !== `${base}/sharedmem`) return plainAnswer(404, 'No tree at this path\n');
    return plainAnswer(200, this.text(roots), { 'Content-Type': contentType });
  }
}

/** One request and its answer. The answer stops when the client disconnects. */
export class HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #isChunked: boolean;
  readonly #over = new AbortController();

  constructor(request: IncomingMessage, response: ServerResponse, isChunked: boolean) {
    this.request = request;
    this.response = response;
    this.#isChunked = isChunked;
    response.once('close', () => {
      this.#over.abort();
    });
    // A client may disconnect at any time, so this is not an error.
    response.on('error', () => undefined);
    // Discard the request's body: nothing else reads it, and an unread body would block the connection.
    request.resume();
  }

  /** Rejects if the client disconnects first. */
  async pause(ms: number): Promise<void> {
    if (ms > 0) await setTimeout(ms, undefined, { signal: this.#over.signal });
  }

  send(answer: HttpAnswer): void {
    if (answer.status === 204 || !this.#isChunked) this.head(answer, answer.body.length);
    else this.head(answer);
    this.response.end(answer.body);
  }

  /** Sends a body of any length through these streams, with backpressure. */
  async stream(
    head: Pick<HttpAnswer, 'status' | 'headers'>,
    source: Readable,
    ...through: readonly Duplex[]
  ): Promise<void> {
    this.head(head);
    await pipeline([source, ...through, this.response]);
  }

  /** Sends the status and headers. Without a length, the body is chunked. */
  head({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>, length?: number): void {
    this.response.writeHead(status, {
      ...headers,
      ...(length !== undefined && status !== 204 && { 'Content-Length': length }),
      Connection: 'close',
    });
    this.response.flushHeaders();
  }

  /** Closes the connection after these bytes, even if the head declared another length. */
  hangUpAfter(bytes: Buffer): void {
    if (bytes.length > 0) this.response.write(bytes);
    this.response.socket?.destroySoon();
  }

  /** Closes the connection without an answer. */
  drop(): void {
    this.response.destroy();
  }

  /** Ends an exchange after an error. Usually the client has disconnected. */
  fail(error: unknown): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) response.destroy();
    else this.send(plainAnswer(500, `${messageOf(error)}\n`));
  }
}

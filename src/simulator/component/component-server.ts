// A stand-in for a real server's component: serves a tree as JSON as the vendor's programs do.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NO_CONTENT, acceptsDeflate, compressed, plainAnswer } from './answer.js';
import type { Answer } from './answer.js';
import { DEFAULTS } from './component-options.js';
import type { ComponentOptions } from './component-options.js';
import { viewAt } from './component-view.js';
import { Exchange } from './exchange.js';
import { Listener } from './listener.js';
import { OddWays } from './oddities.js';
import { RequestLog } from './request-log.js';
import type { LoggedRequest } from './request-log.js';
import type { ServedTree } from './served-tree.js';
import { vendorObject } from './vendor-tree.js';
import type { VendorObject } from './vendor-tree.js';

/** Listens on 127.0.0.1 only. */
export class ComponentServer {
  /** What is served from the next request on. */
  tree: ServedTree;
  readonly #options: Required<ComponentOptions>;
  readonly #ways: OddWays;
  readonly #log = new RequestLog();
  readonly #listener: Listener;
  #port = 0;

  constructor(tree: ServedTree, options: ComponentOptions = {}) {
    this.tree = tree;
    this.#options = { ...DEFAULTS, ...options };
    this.#ways = new OddWays(this.#options.oddities);
    this.#listener = new Listener(
      this.#options.tls,
      (request, response) => void this.#serve(request, response),
      () => undefined,
    );
  }

  /**
   * Takes a free port when it is 0.
   * @throws Fault LISTENER_FAILED when the port cannot be had, USAGE when the certificate cannot be used
   */
  async listen(port: number): Promise<void> {
    this.#port = await this.#listener.open(port);
  }

  /** Where `/sharedmem` is: scheme, address, port and base. */
  get url(): string {
    const { tls, base } = this.#options;
    return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}${base}`;
  }

  /** The last 1000 requests, oldest first. */
  get requests(): readonly LoggedRequest[] {
    return this.#log.requests;
  }

  get connections(): number {
    return this.#listener.connections;
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    await this.#listener.shut();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#log.add(request);
    const exchange = new Exchange(request, response, this.#options);
    try {
      await exchange.pause(this.#options.latencyMs);
      exchange.send(await this.#answer(request));
    } catch (error) {
      exchange.fail(error);
    }
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { securityKey, refusalStatus, compression } = this.#options;
    if (securityKey !== undefined && request.headers['security-key'] !== securityKey)
      return plainAnswer(refusalStatus, 'Security-Key is missing or wrong\n');
    if (request.method !== 'GET')
      return plainAnswer(405, 'Only GET is known\n', {
        'Content-Type': 'text/plain',
        Allow: 'GET',
      });
    const answer = this.#show(request.url ?? '');
    const isAsked = acceptsDeflate(request.headers['accept-encoding']);
    return isAsked && answer.status === 200 ? compressed(answer, compression) : answer;
  }

  #show(url: string): Answer {
    const { base, contentType } = this.#options;
    const [path = ''] = url.split('?');
    const view = path.startsWith(base) ? viewAt(path.slice(base.length), this.#roots()) : undefined;
    if (view === undefined) return plainAnswer(404, 'There is nothing here\n');
    if (view.content === undefined) return NO_CONTENT;
    return plainAnswer(200, this.#ways.text(view.content), { 'Content-Type': contentType });
  }

  #roots(): readonly VendorObject[] {
    return this.#ways.tree(Array.from(this.tree.roots, vendorObject));
  }
}

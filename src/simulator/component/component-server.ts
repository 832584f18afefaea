// A stand-in for a real server's component: serves a tree as JSON as the vendor's programs do.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { Component } from './component.js';
import { DEFAULTS } from './component-options.js';
import type { ComponentOptions } from './component-options.js';
import { Exchange } from './exchange.js';
import { FAULTS } from './faults.js';
import type { FaultName } from './faults.js';
import { Listener } from './listener.js';
import { RequestLog } from './request-log.js';
import type { LoggedRequest } from './request-log.js';
import type { ServedTree } from './served-tree.js';

/** How often and how long it asks for its port again after it had let go of it. */
const REOPENING = { attempts: 100, everyMs: 50 };

/** Listens on 127.0.0.1 only. */
export class ComponentServer {
  readonly #component: Component;
  readonly #log = new RequestLog();
  readonly #listener: Listener;
  #fault: FaultName | undefined;
  #settled = Promise.resolve();
  #port: number | undefined;
  #turns = 0;
  #followed = 0;

  constructor(tree: ServedTree, options: ComponentOptions = {}) {
    this.#component = new Component(tree, { ...DEFAULTS, ...options });
    this.#listener = new Listener(
      this.#component.options.tls,
      (request, response) => void this.#serve(request, response),
      (socket) => {
        if (this.#fault === 'reset') socket.resetAndDestroy();
      },
    );
  }

  /**
   * Takes a free port when it is 0.
   * @throws Fault LISTENER_FAILED when the port cannot be had, USAGE when the certificate cannot be used
   */
  async listen(port: number): Promise<void> {
    this.#port = await this.#listener.open(port);
    if (this.#fault === 'refuse') await this.#listener.shut();
  }

  /** Where `/sharedmem` is: scheme, address, port and base. */
  get url(): string {
    const { tls, base } = this.#component.options;
    return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port ?? 0}${base}`;
  }

  /** What is served from the next request on. */
  get tree(): ServedTree {
    return this.#component.tree;
  }

  set tree(tree: ServedTree) {
    this.#component.tree = tree;
  }

  /** What is wrong with it from now on; undefined when nothing is. */
  get fault(): FaultName | undefined {
    return this.#fault;
  }

  set fault(fault: FaultName | undefined) {
    this.#fault = fault;
    this.#turns = 0;
    if (fault === 'reset') this.#listener.reset();
    if (fault === 'refuse') void this.#listener.shut();
    this.#settled = this.#settled.catch(() => undefined).then(() => this.#settle());
    // Whoever wants to know asks for `settled`.
    this.#settled.catch(() => undefined);
  }

  /**
   * Resolves once it listens, or does not, as the fault wants it.
   * Rejects with Fault LISTENER_FAILED when the port was taken by somebody else meanwhile.
   */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** The last 1000 requests, oldest first. */
  get requests(): readonly LoggedRequest[] {
    return this.#log.requests;
  }

  /** How many requests followed the redirection of the fault `redirect`. */
  get followed(): number {
    return this.#followed;
  }

  get connections(): number {
    return this.#listener.connections;
  }

  /** Ends all connections at once. */
  async close(): Promise<void> {
    this.#port = undefined;
    await this.#listener.shut();
    await this.#settled.catch(() => undefined);
  }

  async #settle(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const port = this.#fault === 'refuse' ? undefined : this.#port;
      if (port === undefined) return this.#listener.shut();
      if (this.#listener.isOpen) return;
      try {
        await this.#listener.open(port);
      } catch (error) {
        if (attempt === REOPENING.attempts) throw error;
        await setTimeout(REOPENING.everyMs);
      }
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#log.add(request);
    const component = this.#component;
    const exchange = new Exchange(request, response, component.options);
    try {
      await exchange.pause(component.options.latencyMs);
      if (this.#fault === undefined) exchange.send(await component.answer(request));
      else
        await FAULTS[this.#fault](exchange, component, {
          turn: this.#turns++,
          follow: () => {
            this.#followed++;
          },
        });
    } catch (error) {
      exchange.fail(error);
    }
  }
}

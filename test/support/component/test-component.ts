// The HTTP server of a component for tests. It can fail on request and write irregular JSON.
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { TlsPair } from '#app/simulator/component/component-server.js';
import type { ServedTree } from '#app/simulator/component/served-tree.js';
import { Component, DEFAULTS, HttpExchange } from './component.js';
import type { TestComponentOptions } from './component.js';
import { FAULTS } from './faults.js';
import type { FaultName } from './faults.js';

const ADDRESS = '127.0.0.1';
const MAX_CONNECTIONS = 512;

/** A listener that can be closed, together with all its connections, and opened again. */
class Listener {
  readonly #tls: TlsPair | undefined;
  readonly #onRequest: RequestListener;
  readonly #onConnection: (socket: Socket) => void;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(
    tls: TlsPair | undefined,
    onRequest: RequestListener,
    onConnection: (socket: Socket) => void,
  ) {
    this.#tls = tls;
    this.#onRequest = onRequest;
    this.#onConnection = onConnection;
  }

  get isOpen(): boolean {
    return this.#server !== undefined;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Listens, and returns the port. */
  async open(port: number): Promise<number> {
    const server = this.#make();
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject);
      server.listen(port, ADDRESS, resolve);
    });
    this.#server = server;
    return (server.address() as AddressInfo).port;
  }

  /** Stops listening and ends all connections, at once. */
  async shut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.close(() => resolve());
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Resets all connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #make(): Server {
    const server = this.#tls === undefined ? createServer() : createSecureServer(this.#tls);
    server.on('request', this.#onRequest);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      this.#onConnection(socket);
    });
    server.maxConnections = MAX_CONNECTIONS;
    return server;
  }
}

/**
 * How often, and at which interval, to try to listen on the port again after the fault `refuse` released it.
 */
const REOPENING = { attempts: 100, everyMs: 50 };

/** Serves a component on 127.0.0.1, with or without a fault. */
export class TestComponent {
  readonly #component: Component;
  readonly #listener: Listener;
  #fault: FaultName | undefined;
  #settled = Promise.resolve();
  #port: number | undefined;
  #faultyAnswers = 0;

  constructor(tree: ServedTree, options: TestComponentOptions = {}) {
    this.#component = new Component(tree, { ...DEFAULTS, ...options });
    this.#listener = new Listener(
      this.#component.options.tls,
      (request, response) => void this.#serve(request, response),
      (socket) => {
        if (this.#fault === 'reset') socket.resetAndDestroy();
      },
    );
  }

  /** Listens on a port; 0 takes a free one. */
  async listen(port: number): Promise<void> {
    // A fault that was set earlier may still be closing the listener. Wait for that.
    await this.#settled.catch(() => undefined);
    this.#port = await this.#listener.open(port);
    if (this.#fault === 'refuse') await this.#listener.shut();
  }

  /** The address without the path `/sharedmem`: scheme, address, port and base. */
  get url(): string {
    const { tls, base } = this.#component.options;
    return `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port ?? 0}${base}`;
  }

  /** The present fault; undefined if there is none. */
  get fault(): FaultName | undefined {
    return this.#fault;
  }

  set fault(fault: FaultName | undefined) {
    this.#fault = fault;
    this.#faultyAnswers = 0;
    if (fault === 'reset') this.#listener.reset();
    if (fault === 'refuse') void this.#listener.shut();
    this.#settled = this.#settled.catch(() => undefined).then(() => this.#settle());
    // Prevents an unhandled rejection: callers get the error from `settled`.
    this.#settled.catch(() => undefined);
  }

  /**
   * Resolves once the server listens or has stopped, as the present fault requires. Rejects if another
   * process took the port in the meantime.
   */
  get settled(): Promise<void> {
    return this.#settled;
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
    const component = this.#component;
    component.options.onRequest(request);
    const exchange = new HttpExchange(request, response, component.options.isChunked);
    try {
      if (this.#fault === undefined) exchange.send(await component.answer(request));
      else await FAULTS[this.#fault](exchange, component, this.#faultyAnswers++);
    } catch (error) {
      exchange.fail(error);
    }
  }
}

// The HTTP sink on a free port, with clients over raw sockets.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Subscription } from 'rxjs';
import { OPEN_METRICS } from '#app/exposition/page/open-metrics.js';
import { PROTOBUF } from '#app/exposition/page/protobuf.js';
import { TEXT, notReadyText } from '#app/exposition/page/text-page.js';
import type { Target } from '#app/model.js';
import { NO_GUARD } from '#app/sinks/http/http-server.js';
import { httpSink } from '#app/sinks/http/http.js';
import type { HttpOptions } from '#app/sinks/http/http.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import type { SinkEvent } from '#app/sinks/sink.js';
import { eventually } from './eventually.js';
import { follow } from './follow.js';
import { serviceFacts } from './service-facts.js';

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Call inside `describe`: returns a function that serves targets until the end of the test. */
export function freshServing() {
  const started: ServingHttp[] = [];
  afterEach(() => {
    for (const serving of started.splice(0)) serving.end();
  });
  return (...args: ConstructorParameters<typeof ServingHttp>): Promise<ServingHttp> => {
    const serving = new ServingHttp(...args);
    started.push(serving);
    return serving.opened();
  };
}

export class ServingHttp {
  readonly events: readonly SinkEvent[];
  readonly logged: string[] = [];
  readonly #subscription: Subscription;
  readonly #sockets: Socket[] = [];

  constructor(targets: readonly Target[], options: Partial<HttpOptions> = {}) {
    const sink = httpSink({
      addresses: [{ host: '127.0.0.1', port: 0 }],
      guard: NO_GUARD,
      responseMs: 60_000,
      headerMs: 10_000,
      maxHeaderBytes: 16_384,
      maxConnections: 512,
      maxScrapes: 64,
      path: '/metrics',
      formats: [TEXT, OPEN_METRICS, PROTOBUF],
      hostPage: { isEnabled: () => false, onLeftOut: () => undefined },
      scope: () => undefined,
      scopeNames: () => [],
      notReady: notReadyText,
      selfMetrics: new SelfMetrics(),
      service: () => serviceFacts,
      unixMs: () => serviceFacts.startedMs,
      hasTrees: true,
      showsUnreadTexts: () => true,
      dumpCommand: (serverKey) => `shm_dump --server-key ${serverKey}`,
      reload: undefined,
      log: (message) => this.logged.push(message),
      ...options,
    });
    const { seen, subscription } = follow(sink({ targets }));
    this.events = seen;
    this.#subscription = subscription;
  }

  async opened(): Promise<this> {
    await eventually('the listener opens', () => this.events.length > 0);
    return this;
  }

  get origin(): string {
    const [first] = this.events;
    return first?.kind === 'opened' ? new URL(first.where).origin : '';
  }

  /** The completed responses. */
  get served(): readonly SinkEvent[] {
    return this.events.filter(({ kind }) => kind === 'served');
  }

  async ask(
    path: string,
    init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Answered> {
    const response = await fetch(`${this.origin}${path}`, {
      ...init,
      headers: { connection: 'close', ...init.headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Sends raw bytes; `text()` is the received text so far. */
  send(bytes: string): { readonly socket: Socket; readonly text: () => string } {
    let received = '';
    const socket = connect(Number(new URL(this.origin).port), '127.0.0.1');
    this.#sockets.push(socket);
    socket.on('data', (data) => (received += data.toString('latin1')));
    socket.on('error', () => undefined);
    socket.write(bytes);
    return { socket, text: () => received };
  }

  leave(): void {
    this.#subscription.unsubscribe();
  }

  /** Closes the listener and the clients. */
  end(): void {
    this.leave();
    for (const socket of this.#sockets) socket.destroy();
  }
}

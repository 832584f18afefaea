// The exporter's metrics about itself and all its targets, served apart from theirs: prom-client's job.
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { PUBLISHER_STATES } from '../model.js';
import type { InternalMetric, Target } from '../model.js';
import type { SinkEvent } from './sink.js';

const IDENTITY = ['app', 'server_key'] as const;

export class SelfMetrics {
  readonly #registry = new Registry();
  readonly #responses: Counter;
  readonly #bytes: Counter;
  readonly #skipped: Counter;
  readonly #publishers: Gauge;
  readonly #license: Gauge;
  /** Internal metrics of the targets, by name, made when they are first seen. */
  readonly #internal = new Map<string, Counter | Gauge>();

  constructor(version: string) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    const build = new Gauge({
      name: 'shm_exporter_build_info',
      help: 'Version of the exporter; always 1.',
      labelNames: ['version'],
      registers,
    });
    build.set({ version }, 1);
    this.#responses = new Counter({
      name: 'shm_exporter_http_responses_total',
      help: 'HTTP responses by status code.',
      labelNames: ['code'],
      registers,
    });
    this.#bytes = new Counter({
      name: 'shm_exporter_http_sent_bytes_total',
      help: 'Bytes of response bodies.',
      registers,
    });
    this.#skipped = new Counter({
      name: 'shm_exporter_stdout_skipped_ticks_total',
      help: 'Ticks of stdout mode without a snapshot, because the reader was too slow.',
      registers,
    });
    this.#publishers = new Gauge({
      name: 'shm_exporter_publisher_state',
      help: 'State of the publisher of a target, one series a state.',
      labelNames: [...IDENTITY, 'state'],
      registers,
    });
    this.#license = new Gauge({
      name: 'shm_exporter_license_expiry_timestamp_seconds',
      help: 'When the license expires or expired, as a Unix timestamp; grace is not counted.',
      registers,
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Takes note of the moment that the license expires, as Unix seconds. */
  license(expirySeconds: number): void {
    this.#license.set(expirySeconds);
  }

  count(event: SinkEvent): void {
    if (event.kind === 'skipped') this.#skipped.inc();
    if (event.kind !== 'served') return;
    this.#responses.inc({ code: String(event.status) });
    this.#bytes.inc(event.bytes);
  }

  /** Everything as text 0.0.4, the internal metrics of all targets with labels that name them. */
  async text(targets: readonly Target[]): Promise<string> {
    for (const metric of this.#internal.values()) metric.reset();
    this.#publishers.reset();
    for (const target of targets) {
      const { app, serverKey, publisher } = target.status();
      const labels = { app, server_key: serverKey };
      for (const metric of target.internal()) this.#set(metric, labels);
      for (const state of PUBLISHER_STATES)
        this.#publishers.set({ ...labels, state }, Number(state === publisher.state));
    }
    return this.#registry.metrics();
  }

  #set(
    { name, type, help, value, labels: own = {} }: InternalMetric,
    identity: Record<string, string>,
  ): void {
    const known = this.#internal.get(name);
    const labelNames = [...IDENTITY, ...Object.keys(own)];
    const options = { name, help, labelNames, registers: [this.#registry] };
    const metric = known ?? (type === 'counter' ? new Counter(options) : new Gauge(options));
    if (known === undefined) this.#internal.set(name, metric);
    const shown = Object.entries(own).filter(([, text]) => text !== '');
    metric.inc({ ...identity, ...Object.fromEntries(shown) }, Number(value));
  }
}

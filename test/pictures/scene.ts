// Starts the programs that the pictures in docs/tutorial.md show: a simulated ADS, an exporter, Prometheus
// and a shop.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Publisher } from '#app/native/publisher/publisher.js';
import { PROJECT, TestPrograms, waitFor } from '../support/processes.js';
import type { Running } from '../support/processes.js';

const RULES = 'deploy/prometheus';
const LICENSE_HOURS = 30 * 24;
const WITHIN_MS = 90_000;
/** The number of samples, one per second, that a graph needs. */
const HISTORY = 25;
const SHOP = 'localhost.1.shop';
/** Replacements in Prometheus's configuration, so that it scrapes and discovers targets more often. */
const HURRIED = [
  [/_interval: 15s/g, '_interval: 1s'],
  [/- url:/g, '- refresh_interval: 1s\n        url:'],
] as const;

export interface SceneSettings {
  /** The ports on which the programs listen. */
  readonly exporter: number;
  readonly prometheus: number;
  /** How long alerts with `for: 1m` in the files wait here. */
  readonly alertsWait: '1m' | '1s';
}

export class Scene {
  readonly #programs = new TestPrograms();
  readonly #given: SceneSettings;
  #simulator: Running | undefined;
  #closeShop: (() => void) | undefined;

  private constructor(given: SceneSettings) {
    this.#given = given;
  }

  /** Starts everything except the shop. Resolves once Prometheus has metrics of the ADS. */
  static async open(given: SceneSettings): Promise<Scene> {
    const scene = new Scene(given);
    await scene.#open().catch(async (error: unknown) => {
      await scene.close();
      throw error;
    });
    return scene;
  }

  get exporter(): string {
    return `http://127.0.0.1:${this.#given.exporter}`;
  }

  get prometheus(): string {
    return `http://127.0.0.1:${this.#given.prometheus}`;
  }

  /** Folders of this machine that a picture must not show. */
  get folders(): readonly string[] {
    return [PROJECT, this.#programs.path('')];
  }

  /** Waits until Prometheus returns a result for an expression. */
  async until(expression: string): Promise<void> {
    const query = new URLSearchParams({ query: expression }).toString();
    await waitFor(
      expression,
      async () => {
        const answer = await fetch(`${this.prometheus}/api/v1/query?${query}`).catch(
          () => undefined,
        );
        if (answer?.ok !== true) return undefined;
        const { data } = (await answer.json()) as { data: { result: unknown[] } };
        return data.result.length > 0 ? data : undefined;
      },
      WITHIN_MS,
    );
  }

  async killSimulator(): Promise<void> {
    await this.#simulator?.stop('SIGKILL');
    await this.until('ALERTS{alertname="ShmPublisherDead",alertstate="firing"}');
  }

  async startSimulator(): Promise<void> {
    this.#simulator = await this.#programs.simulator('--app', 'ads', '--server-key', '82');
  }

  /** Publishes the shop, reloads the exporter, and waits until Prometheus has enough samples for a graph. */
  async openShop(): Promise<void> {
    this.#publishShop();
    this.#programs.write('exporter.toml', this.#settings(['ads', '82'], ['shop', 'shop']));
    const { status } = await fetch(`${this.exporter}/-/reload`, { method: 'POST' });
    if (status !== 200) throw new Error(`POST /-/reload: ${status}`);
    await this.until(`count_over_time(shop_till_sales_total[5m]) >= ${HISTORY}`);
  }

  async close(): Promise<void> {
    this.#closeShop?.();
    await this.#programs.close();
  }

  async #open(): Promise<void> {
    await this.startSimulator();
    const config = this.#programs.write('exporter.toml', this.#settings(['ads', '82']));
    const exporter = this.#programs.start('exporter', ['--config', config]);
    await exporter.line(/ready: \d+ objects/);
    this.#startPrometheus();
    await this.until('ads_process_health_level');
  }

  #settings(...targets: readonly (readonly [app: string, key: string])[]): string {
    const settings = {
      license_file: this.#programs.issue('scene.json', 0, LICENSE_HOURS),
      metrics_port: this.#given.exporter,
      http_reload_enabled: true,
    };
    const tables = targets.map(
      ([app, key]) => `\n[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`,
    );
    return this.#programs.settings(settings) + tables.join('');
  }

  /** Runs Prometheus in a folder in which the files have the paths that the tutorial uses. */
  #startPrometheus(): void {
    mkdirSync(this.#programs.path(RULES), { recursive: true });
    for (const file of readdirSync(join(PROJECT, RULES))) {
      const text = readFileSync(join(PROJECT, RULES, file), 'utf8').replaceAll(
        '127.0.0.1:9464',
        new URL(this.exporter).host,
      );
      const hurried = HURRIED.reduce(
        (all, [slow, fast]) => all.replace(slow, fast),
        text,
      ).replaceAll('for: 1m', `for: ${this.#given.alertsWait}`);
      this.#programs.write(join(RULES, file), hurried);
    }
    const address = new URL(this.prometheus).host;
    const words = [`--config.file=${RULES}/prometheus.yml`, '--storage.tsdb.path=data'];
    const script = 'cd "$0" && exec prometheus "$@"';
    const folder = this.#programs.path('');
    this.#programs.command([
      ...['sh', '-c', script, folder, ...words, `--web.listen-address=${address}`],
    ]);
  }

  #publishShop(): void {
    const publisher = new Publisher({ contextId: this.#programs.contextId, serverKey: 'shop' });
    const till = publisher.addObject(
      publisher.addRoot(SHOP, 'Shop'),
      `${SHOP}.tills.front`,
      'Till',
    );
    const sales = publisher.addVariable(till, 'sales', 'u64', { kind: 'counter' });
    sales.set(0);
    publisher.place();
    const beat = setInterval(() => {
      sales.add(1);
      publisher.notify();
    }, 1000);
    this.#closeShop = () => {
      clearInterval(beat);
      publisher.close();
    };
  }
}

// The baseline: a second exporter, without faults. Its scrapes are slow only if the whole machine is slow.
import { setTimeout as sleep } from 'node:timers/promises';
import { TestPrograms } from '../support/processes.js';
import { ControlPublisher, faultsOf, fetchPage } from './control-target.js';

const REST_MS = 20;

export class BaselineExporter {
  /** The errors in its pages. */
  readonly wrong: string[] = [];
  readonly #programs = new TestPrograms();
  readonly #control = new ControlPublisher(this.#programs.contextId);
  readonly #scrapes: { readonly endMs: number; readonly ms: number }[] = [];
  #beganMs = Infinity;
  #isOver = false;
  #all: Promise<void> = Promise.resolve();

  /** Starts the exporter, and scrapes it until `close`. */
  static async start(): Promise<BaselineExporter> {
    const baseline = new BaselineExporter();
    const exporter = baseline.#programs.start('exporter', [
      '--config',
      baseline.#programs.config(
        { render_min_interval_ms: 1 },
        '[[targets]]\napp = "good"\nserver_key = "good"\n',
      ),
    ]);
    const url = await exporter.url();
    await exporter.line(/target good on good ready/);
    baseline.#all = baseline.#scrape(url);
    return baseline;
  }

  /** The times in ms of the scrapes that ended after a moment of `performance.now()`, and of the running one. */
  timesSince(sinceMs: number): readonly number[] {
    const runningMs = Math.max(0, performance.now() - this.#beganMs);
    const first = this.#scrapes.findLastIndex(({ endMs }) => endMs < sinceMs) + 1;
    return [...this.#scrapes.slice(first).map(({ ms }) => ms), runningMs];
  }

  /**
   * The delay of the machine since a moment of `performance.now()`: the time of the slowest scrape. The tests add it to
   * the limits of the exporter under test.
   */
  delaySince(sinceMs: number): number {
    return Math.max(...this.timesSince(sinceMs));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#all;
    this.#control.close();
    await this.#programs.close();
  }

  async #scrape(url: string): Promise<void> {
    while (!this.#isOver) {
      this.#control.update();
      const { round } = this.#control;
      this.#beganMs = performance.now();
      try {
        this.wrong.push(...faultsOf(await fetchPage(url), round));
      } catch (error) {
        this.wrong.push(String(error));
      }
      const endMs = performance.now();
      this.#scrapes.push({ endMs, ms: endMs - this.#beganMs });
      this.#beganMs = Infinity;
      await sleep(REST_MS);
    }
  }
}

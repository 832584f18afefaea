// A tree in two segments: one published directly, and one that the bridge polls as JSON and publishes.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ScenarioStep } from '#app/simulator/scenario.js';
import { parseScenario } from '#app/simulator/scenario.js';
import { SimulationStage } from '#app/simulator/simulation.js';
import type { TestComponentOptions } from '../support/component/component.js';
import { ServedTree } from '#app/simulator/component/served-tree.js';
import { Publisher } from '#app/native/publisher/publisher.js';
import { RecordingComponent } from '../support/component/components.js';
import { PROJECT, waitFor } from '../support/processes.js';
import type { Running, TestPrograms } from '../support/processes.js';
import { applicationPart, scrape } from './page.js';

export const RECORDED = join(PROJECT, '../shared/data/adh-3.8-recorded.scenario.json');
export const recordedText = (): string => readFileSync(RECORDED, 'utf8');

/** The server keys of the two segments. */
export const DIRECT = '80';
export const BRIDGED = '81';

const CAPACITY = { records: 1 << 18, slots: 1 << 16 };

export class BridgePair {
  readonly server: RecordingComponent;
  readonly #publisher: Publisher;
  readonly #stages: readonly [SimulationStage, SimulationStage];
  #url = '';
  bridge: Running | undefined;
  exporter: Running | undefined;

  /** @param scenario the text of a scenario file */
  constructor(
    readonly programs: TestPrograms,
    scenario: string,
    options: TestComponentOptions = {},
  ) {
    const { objects } = parseScenario(scenario, 'scenario');
    const tree = new ServedTree();
    const { contextId } = programs;
    this.#publisher = new Publisher({ contextId, serverKey: DIRECT, capacity: CAPACITY });
    this.#stages = [new SimulationStage(this.#publisher), new SimulationStage(tree)];
    this.server = new RecordingComponent(tree, options);
    for (const object of objects) for (const stage of this.#stages) stage.add(object);
  }

  /** Starts all programs. `more` are additional settings of the component in the bridge's configuration. */
  async start(app: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    this.#publisher.place();
    await this.server.listen(0);
    const lines = Object.entries({
      name: 'twin',
      url: this.server.url,
      server_key: BRIDGED,
      interval_ms: 1000,
      request_timeout_ms: 1000,
      ...more,
    }).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
    const head = `context_id = ${JSON.stringify(this.programs.contextId)}\n`;
    const file = this.programs.write('bridge.toml', `${head}[[components]]\n${lines.join('')}`);
    this.bridge = this.programs.start('bridge', ['--config', file]);
    const target = (of: string, key: string) =>
      `\n[[targets]]\napp = ${JSON.stringify(of)}\nserver_key = "${key}"\n`;
    const targets = target(app, DIRECT) + target(app, BRIDGED) + target('shm_bridge', BRIDGED);
    const config = this.programs.config({ render_min_interval_ms: 1 }, targets);
    this.exporter = this.programs.start('exporter', ['--config', config]);
    this.#url = await this.exporter.url();
    this.#app = app;
  }
  #app = '';

  play(step: Partial<ScenarioStep>): void {
    const whole = { afterMs: 0, set: [], add: [], remove: [], sync: [], state: [] };
    for (const stage of this.#stages) stage.play({ exit: null, ...whole, ...step });
    this.#publisher.notify();
  }

  page(app: string, key: string): Promise<{ status: number; body: string }> {
    return scrape(`${this.#url}?app=${app}&server_key=${key}`);
  }

  /** Returns the application metrics of both targets, each '' if the target is not ready. */
  async texts(): Promise<readonly [string, string]> {
    const [one, other] = await Promise.all(
      [DIRECT, BRIDGED].map(async (key) => {
        const { status, body } = await this.page(this.#app, key);
        return status === 200 ? applicationPart(body) : '';
      }),
    );
    return [one ?? '', other ?? ''];
  }

  /**
   * Waits until both targets have the same text, which must differ from `before`, and returns it. The error
   * shows the first difference. `normalize` removes parts that may differ.
   */
  async same(
    what: string,
    before = '',
    normalize = (text: string): string => text,
  ): Promise<string> {
    let last: readonly [string, string] = ['', ''];
    try {
      return await waitFor(what, async () => {
        // Wake the readers, as the bridge does after its polls.
        this.#publisher.notify();
        last = await this.texts();
        const [direct, bridged] = last;
        return direct !== '' && direct !== before && normalize(direct) === normalize(bridged)
          ? direct
          : undefined;
      });
    } catch (error) {
      throw new Error(`${what}: ${difference(...last)}\n${this.bridge?.stderr ?? ''}`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    await this.server.close();
    this.#publisher.close();
  }

  /** The id of the bridge's own root. */
  readonly ownRoot = `${hostname()}.1.shm_bridge`;
}

/** Sorts the series within each family, so that their order does not matter. */
export const inAnyOrder = (text: string): string =>
  text
    .split(/(?<=\n)(?=# HELP )/)
    .map((family) => family.split('\n').sort().join('\n'))
    .join('');

/** Shows the first lines in which two texts differ. */
function difference(direct: string, bridged: string): string {
  const [one, other] = [direct.split('\n'), bridged.split('\n')];
  const at = one.findIndex((line, index) => line !== other[index]);
  if (at < 0) return `${one.length} and ${other.length} lines, alike as far as they go`;
  const some = (lines: readonly string[]) => lines.slice(at, at + 4).join('\n  ');
  return `from line ${at} of ${one.length} and ${other.length}:\n  ${some(one)}\nbut bridged\n  ${some(other)}`;
}

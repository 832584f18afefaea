// A tree that this process publishes, as shm_simulator would with the same arguments.
import { merge } from 'rxjs';
import type { Subscription } from 'rxjs';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { heartbeat } from '#app/native/publisher/heartbeat.js';
import { Publisher } from '#app/native/publisher/publisher.js';
import { LiveTree, planPlainTree } from '#app/simulator/live-tree.js';
import { parseOptions } from '#app/simulator/options.js';
import type { SimulatorOptions } from '#app/simulator/options.js';
import { Random } from '#app/simulator/course.js';
import type { Scenario } from '#app/simulator/scenario.js';
import { parseScenario, readScenario } from '#app/simulator/scenario.js';
import { SimulationStage, live, play } from '#app/simulator/simulation.js';
import { planTree } from '#app/simulator/tree-plan.js';

const CAPACITY = { records: 1 << 16, slots: 1 << 16 };

export class Published {
  readonly #publisher: Publisher;
  readonly #stage: SimulationStage;
  readonly #run: Subscription;

  /** @param words the arguments of shm_simulator; its scenario must not have a step that ends the process */
  constructor(...words: readonly string[]) {
    const given = parseOptions(words, '');
    if (given.kind !== 'given') throw new Error(`No tree: ${given.text}`);
    const { options } = given;
    const scenario = options.scenario === undefined ? undefined : readScenario(options.scenario);
    if (scenario?.steps.some(({ exit }) => exit !== null) === true)
      throw new Error('This scenario ends its process');
    const { contextId, serverKey = scenario?.serverKey ?? '' } = options;
    const poolName = options.poolName ?? scenario?.poolName;
    this.#publisher = new Publisher({
      failIfBusy: true,
      serverKey,
      ...(contextId !== undefined && { contextId }),
      ...(poolName !== undefined && { poolName }),
      pid: process.pid,
      realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
      capacity: CAPACITY,
    });
    this.#stage = new SimulationStage(this.#publisher);
    const run$ = this.#tree(options, scenario);
    this.#publisher.place();
    this.#run = merge(run$, heartbeat(this.#publisher)).subscribe();
  }

  #tree({ app, objects, root, seed, rate, changeFraction }: SimulatorOptions, scenario?: Scenario) {
    const publisher = this.#publisher;
    if (scenario !== undefined) {
      for (const object of scenario.objects) this.#stage.add(object);
      return play(publisher, this.#stage, scenario);
    }
    const catalogue = loadCatalogues().get(app);
    const plan = catalogue === undefined ? planPlainTree(objects) : planTree(catalogue, objects);
    const tree = new LiveTree(publisher, root ?? `localhost.1.${app}`, plan, new Random(seed));
    return live(publisher, tree, rate, changeFraction);
  }

  /** Runs a scenario step at once. */
  go(step: object): void {
    const steps = [{ after_ms: 0, ...step }];
    const scenario = parseScenario(JSON.stringify({ objects: [], steps }), 'step');
    for (const each of scenario.steps) this.#stage.play(each);
    this.#publisher.notify();
  }

  close(): void {
    this.#run.unsubscribe();
    this.#publisher.close();
  }
}

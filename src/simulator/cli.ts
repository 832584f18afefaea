#!/usr/bin/env node
// shm_simulator: publishes a tree that lives, or plays a scenario.
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { merge, timer } from 'rxjs';
import { loadCatalogues } from '../catalogue/builtin.js';
import { Fault, messageOf } from '../errors.js';
import { Publisher } from '../native/publisher.js';
import { LiveTree } from './live-tree.js';
import { Random } from './random.js';
import { readScenario } from './scenario.js';
import { heartbeat, live, play, stageOf } from './simulation.js';
import type { Ending } from './simulation.js';
import type { Observable } from 'rxjs';
import { planPlainTree } from './plain-tree.js';
import { planTree } from './tree-plan.js';

interface Options {
  readonly app: string;
  readonly serverKey?: string;
  readonly root?: string;
  readonly objects: number;
  readonly rate: number;
  readonly changeFraction: number;
  readonly seed: number;
  readonly scenario?: string;
  readonly contextId?: string;
  readonly poolName?: string;
}

const number = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (text === '' || !(value >= least && value <= most))
    throw new InvalidArgumentError(`Allowed: a number from ${least} to ${most}.`);
  return value;
};

const whole = (least: number, most: number) => (text: string) => {
  const value = number(least, most)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('Allowed: a whole number.');
  return value;
};

const word = (text: string) => {
  if (text === '') throw new InvalidArgumentError('Allowed: at least one character.');
  return text;
};

const program = new Command('shm_simulator')
  .description('Publishes simulated managed objects in shared memory until a signal')
  .option('--app <app>', 'application whose tree is made up', 'ads')
  .option('--server-key <key>', 'server key to publish under')
  .option('--root <id>', 'id of the root object, such as host.1.ads', word)
  .option('--objects <n>', 'about how many objects', whole(1, 100_000), 100)
  .option('--rate <hz>', 'how often values change', number(0, 1000), 1)
  .option('--change-fraction <f>', 'share of the values that change', number(0, 1), 0.1)
  .option('--seed <s>', 'seed of names and values', whole(0, 2 ** 32 - 1), 1)
  .option('--scenario <file>', 'plays this file instead')
  .option('--context-id <id>', 'shared-memory context id (default: "shmApp")')
  .option('--pool-name <name>', 'shared-memory pool name (default: "pool")')
  .exitOverride();

/** Makes the publisher and what runs in it; nothing is visible before `place()`. */
function prepare(options: Options): { publisher: Publisher; run$: Observable<Ending> } {
  const scenario = options.scenario === undefined ? undefined : readScenario(options.scenario);
  const serverKey = options.serverKey ?? scenario?.serverKey;
  if (serverKey === undefined) throw new Fault('USAGE', 'option --server-key is needed');
  const contextId = options.contextId ?? scenario?.contextId;
  const poolName = options.poolName ?? scenario?.poolName;
  const publisher = new Publisher({
    serverKey,
    ...(contextId !== undefined && { contextId }),
    ...(poolName !== undefined && { poolName }),
    pid: process.pid,
    realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
    capacity: capacityFor(scenario?.objects.length ?? options.objects),
  });
  // From here on there is a file, which an end before it is placed must not leave behind.
  process.once('exit', () => {
    publisher.close();
  });
  if (scenario !== undefined) {
    const stage = stageOf(publisher, scenario);
    return { publisher, run$: play(publisher, stage, scenario) };
  }
  const catalogue = loadCatalogues().get(options.app);
  const plan =
    catalogue === undefined ? planPlainTree(options.objects) : planTree(catalogue, options.objects);
  const root = options.root ?? `localhost.1.${options.app}`;
  const tree = new LiveTree(publisher, root, plan, new Random(options.seed));
  if (tree.dropped > 0)
    throw new Fault(
      'SEGMENT_FULL',
      `/dev/shm has no room for ${tree.dropped} objects and variables of ${root}`,
    );
  return { publisher, run$: live(publisher, tree, options.rate, options.changeFraction) };
}

/** Room for many times what there is at the start; it is reserved, not used. */
const capacityFor = (objects: number) => ({
  records: Math.min(1 << 23, Math.max(1 << 18, objects * 256)),
  slots: Math.min(1 << 24, Math.max(1 << 18, objects * 256)),
});

function main(): void {
  program.parse();
  const end = () => process.exit(0);
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  const { publisher, run$ } = prepare(program.opts<Options>());
  publisher.place();
  process.stderr.write('ready\n');
  // The timer keeps the process alive after the last step, until a signal.
  merge(run$, heartbeat(publisher), timer(2 ** 31 - 1)).subscribe({
    next: (ending) => {
      if (ending === 'kill') process.kill(process.pid, 'SIGKILL');
      if (ending === 'clean') end();
    },
    error: fail,
  });
}

function fail(error: unknown): never {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  process.stderr.write(`shm_simulator: ${messageOf(error)}\n`);
  process.exit(error instanceof Fault ? error.exit : 1);
}

try {
  main();
} catch (error) {
  fail(error);
}

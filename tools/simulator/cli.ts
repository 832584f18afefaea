#!/usr/bin/env node
// shm_simulator: publishes a changing tree or a scenario, in shared memory or as JSON.
import '#app/stdio/process-streams.js';
import { readFileSync } from 'node:fs';
import { merge, timer } from 'rxjs';
import type { Observable } from 'rxjs';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { hint } from '#app/document/nearest.js';
import { packageVersion } from '#app/document/package-version.js';
import { Fault, messageOf } from '#app/errors.js';
import { heartbeat } from '#app/native/publisher/heartbeat.js';
import { Publisher } from '#app/native/publisher/publisher.js';
import { BrokenPipe, print } from '#app/stdio/print.js';
import { StandardOutputs } from '#app/stdio/output.js';
import { ComponentServer } from './component/component-server.js';
import { ServedTree } from './component/served-tree.js';
import { LiveTree, planPlainTree } from './live-tree.js';
import type { ObjectPublisher } from './live-tree.js';
import { parseOptions } from './options.js';
import type { SimulatorOptions } from './options.js';
import { Random } from './course.js';
import type { Scenario } from './scenario.js';
import { readScenario } from './scenario.js';
import { live, play, stageOf } from './simulation.js';
import type { Ending } from './simulation.js';
import { planTree, withRunFacts } from './tree-plan.js';
import type { PlannedInstance } from './tree-plan.js';

/** The time limit for printing the last lines. */
const LINES_MS = 1000;

const outputs = new StandardOutputs(process);
const complain = (text: string): void => void outputs.stderr.line(`${text}\n`);
const end = (status = 0): void => {
  outputs.end(status, LINES_MS);
};

const planOf = ({ app, objects }: SimulatorOptions): readonly PlannedInstance[] => {
  const catalogues = loadCatalogues();
  const catalogue = catalogues.get(app);
  if (catalogue !== undefined) return planTree(catalogue, objects);
  const guess = hint(app, catalogues.keys());
  complain(
    `warning: there is no built-in tree of ${app}${guess}; the simulator publishes a general tree`,
  );
  return planPlainTree(objects);
};

/** Publishes the initial tree immediately. The returned observable changes the tree while subscribed. */
function simulate(
  publisher: ObjectPublisher,
  scenario: Scenario | undefined,
  plan: () => readonly PlannedInstance[],
  { app, root = `localhost.1.${app}`, seed, rate, changeFraction }: SimulatorOptions,
): Observable<Ending> {
  if (scenario !== undefined) return play(publisher, stageOf(publisher, scenario), scenario);
  const tree = new LiveTree(publisher, root, plan(), new Random(seed));
  if (tree.dropped > 0)
    throw new Fault(
      'SEGMENT_FULL',
      `/dev/shm has no room for ${tree.dropped} objects and variables of ${root}`,
    );
  return live(publisher, tree, rate, changeFraction);
}

/** Publishes in a segment. The segment becomes visible when the initial tree is complete. */
function publish(options: SimulatorOptions, scenario: Scenario | undefined): Observable<Ending> {
  const serverKey = options.serverKey ?? scenario?.serverKey ?? undefined;
  if (serverKey === undefined)
    throw new Fault('USAGE', '--server-key: found nothing, and the scenario has no server_key');
  const contextId = options.contextId ?? scenario?.contextId;
  const poolName = options.poolName ?? scenario?.poolName;
  const publisher = new Publisher({
    failIfBusy: true,
    serverKey,
    ...(contextId !== undefined && { contextId }),
    ...(poolName !== undefined && { poolName }),
    pid: process.pid,
    realtimeNs: () => BigInt(Date.now()) * 1_000_000n,
    capacity: capacityFor(scenario?.objects.length ?? options.objects),
  });
  // Until place(), the segment is a temporary file. Remove the file even if the program exits before place().
  process.once('exit', () => {
    publisher.close();
  });
  const run$ = simulate(publisher, scenario, () => planOf(options), options);
  publisher.place();
  return merge(run$, heartbeat(publisher));
}

/** The capacity of the segment: many times the initial tree. Unused capacity takes no memory. */
const capacityFor = (objects: number) => ({
  records: Math.min(1 << 22, Math.max(1 << 18, objects * 256)),
  slots: Math.min(1 << 24, Math.max(1 << 18, objects * 256)),
});

/** Serves the tree as JSON over HTTP. */
async function serve(
  port: number,
  options: SimulatorOptions,
  scenario: Scenario | undefined,
): Promise<Observable<Ending>> {
  const { jsonBase: base = '', securityKey, tlsCert, tlsKey } = options;
  const tree = new ServedTree();
  const plan = () => withRunFacts(planOf(options), process.pid, new Date());
  const run$ = simulate(tree, scenario, plan, options);
  const server = new ComponentServer(tree, {
    base,
    securityKey,
    ...(tlsCert !== undefined &&
      tlsKey !== undefined && {
        tls: { cert: readPem('--tls-cert', tlsCert), key: readPem('--tls-key', tlsKey) },
      }),
  });
  await server.listen(port);
  complain(`serving ${server.url}`);
  return run$;
}

/** Reads the PEM file of an option. @throws Fault USAGE if the file cannot be read */
function readPem(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Fault('USAGE', `option ${option}: cannot read ${path}: ${messageOf(error)}`);
  }
}

async function main(): Promise<void> {
  const line = parseOptions(process.argv.slice(2), packageVersion());
  if (line.kind === 'text') {
    print(line.text);
    return;
  }
  const { options } = line;
  // Handle SIGHUP too: the segment must also be removed when the terminal closes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end());
  const scenario = options.scenario === undefined ? undefined : readScenario(options.scenario);
  const { jsonPort } = options;
  const run$ =
    jsonPort === undefined ? publish(options, scenario) : await serve(jsonPort, options, scenario);
  complain('ready');
  // The timer keeps the process alive after the last step, until a signal.
  merge(run$, timer(2 ** 31 - 1)).subscribe({
    next: (ending) => {
      if (ending === 'kill') process.kill(process.pid, 'SIGKILL');
      if (ending === 'clean') end();
    },
    error: fail,
  });
}

function fail(error: unknown): void {
  // A reader may close the pipe early, as head does.
  if (error instanceof BrokenPipe) process.exit(0);
  complain(`shm_simulator: ${messageOf(error)}`);
  end(error instanceof Fault ? error.exit : 1);
}

main().catch(fail);

// npm run torture -- [--minutes N] [--seed S] [--only PART[/CASE]] [--keep]: exits with 1 if it finds a
// fault. The minutes alone determine how much it tries, so the same seed and minutes give the same run.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Random } from '#app/simulator/course.js';
import { runBridgeFaults } from './bridge-faults.js';
import { runDamage } from './damage.js';
import { runAllHostile } from './hostile.js';
import { runHttpAbuse } from './http-abuse.js';
import { runJvmChurn } from './jvm-churn.js';
import { runKills } from './kills.js';
import { runGunicorn, runMetricFileDamage, runMetricFiles } from './metric-files.js';
import { runModel } from './model-trial.js';
import { runProcessFaults } from './process-faults.js';
import { runStepFaults } from './step-faults.js';
import type { Trial } from './trial.js';
import { runVarnishDamage } from './varnish-damage.js';

const TRIALS: readonly Trial[] = [
  { name: 'damaged segments', run: runDamage },
  { name: 'killed publishers', run: runKills },
  { name: 'steps of publishers', run: runStepFaults },
  { name: 'http abuses', run: runHttpAbuse },
  { name: 'hostile segments', run: runAllHostile },
  { name: 'faults of the process', run: runProcessFaults },
  { name: 'faults of components', run: runBridgeFaults },
  { name: 'simulations', run: runModel },
  { name: 'JVMs', run: runJvmChurn },
  { name: 'memory of Varnish', run: runVarnishDamage },
  { name: 'directories of metric files', run: runMetricFiles },
  { name: 'damaged metric files', run: runMetricFileDamage },
  { name: 'workers of Gunicorn', run: runGunicorn },
];
const MAX_SHOWN = 20;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error('--minutes takes a number above 0, --seed an integer');
  process.exit(2);
}

const log = (line: string): void => {
  console.log(line);
};
log(`${minutes} minutes, seed ${seed}`);
const [part = '', only = ''] = values.only.split('/');
let failures = 0;
for (const { name, run } of TRIALS) {
  if (!name.includes(part)) continue;
  const began = performance.now();
  const given = {
    random: new Random(seed),
    seed,
    minutes,
    only,
    keeps: values.keep,
    log: (line: string) => log(`  ${line}`),
  };
  const { tried, wrong, figures } = await run(given);
  const seconds = (performance.now() - began) / 1000;
  failures += wrong.length;
  log(`${name}: ${tried} tried, ${wrong.length} wrong, ${seconds.toFixed(0)} s; ${figures}`);
  for (const each of wrong.slice(0, MAX_SHOWN)) log(`  WRONG ${each}`);
}
process.exit(failures === 0 ? 0 : 1);

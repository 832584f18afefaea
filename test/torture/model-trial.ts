// Runs random simulations of targets and publishers in virtual time, and compares each page with a model.
import { runSimulation } from './model/simulation.js';
import { INTERLEAVINGS } from './model/interleavings.js';
import type { Given, Outcome } from './trial.js';

const SIMULATIONS_PER_MINUTE = 200;
/** A run with this number of simulations must cover all interleavings. */
const FULL_COVERAGE = 2000;
/** How many events to print before a failure. */
const SHOWN_EVENTS = 12;

/** Runs the simulations. `--only simulations/SEED` runs the one with this seed, and prints all its events. */
export async function runModel({ random, minutes, only, log }: Given): Promise<Outcome> {
  const seeds =
    only === ''
      ? Array.from({ length: Math.max(10, Math.round(SIMULATIONS_PER_MINUTE * minutes)) }, () =>
          random.below(2 ** 31),
        )
      : [Number(only)];
  const wrong: string[] = [];
  const covered = new Set<string>();
  const sum = { steps: 0, pages: 0, values: 0 };
  for (const seed of seeds) {
    const simulation = runSimulation(seed);
    sum.steps += simulation.steps;
    sum.pages += simulation.pages;
    sum.values += simulation.values;
    for (const each of simulation.covered) covered.add(each);
    const [first] = simulation.wrong;
    if (first !== undefined) {
      const at = simulation.eventLog.indexOf(`WRONG ${first}`);
      const eventLog = simulation.eventLog.slice(Math.max(0, at - SHOWN_EVENTS), at);
      wrong.push([`--only simulations/${seed}: ${first}, after`, ...eventLog].join('\n    '));
    }
    if (only !== '') for (const line of simulation.eventLog) log(line);
    // Let the event loop run between simulations.
    await new Promise(setImmediate);
  }
  const missing = INTERLEAVINGS.filter((each) => !covered.has(each));
  if (seeds.length >= FULL_COVERAGE) wrong.push(...missing.map((each) => `never covered: ${each}`));
  return {
    tried: sum.steps,
    wrong,
    figures: `${seeds.length} simulations, ${sum.pages} pages with ${sum.values} values; ${covered.size} of ${INTERLEAVINGS.length} interleavings`,
  };
}

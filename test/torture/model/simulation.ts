// runSimulation() runs a service, its publishers and random events on them, all determined by one seed.
import { randomBytes } from 'node:crypto';
import { pid } from 'node:process';
import { Random } from '#app/simulator/course.js';
import { MODES } from '../../support/modes.js';
import { PageChecker } from './page-checker.js';
import { Interleavings } from './interleavings.js';
import { PageModel } from './page-model.js';
import { EventGenerator } from './event-generator.js';
import { Publications } from './publications.js';
import { RefreshLog } from './refresh-log.js';
import { SeededClock } from './seeded-clock.js';
import { SimulatedService } from './simulated-service.js';

const STEPS = 150;
/** If changes are concurrent, one in this number of value reads is interrupted by a change. */
const READS_PER_INTERRUPTION = 3;
/**
 * The time for which a killed publisher may still be served. Its lock is checked every half second, and a
 * thread gets the result of the check only at its next poll.
 */
const DETECTION_MS = { logical: 600, threaded: 1300 };
const END_MS = 10_000;

export interface SimulationResult {
  readonly steps: number;
  readonly pages: number;
  readonly values: number;
  readonly wrong: readonly string[];
  /** The interleavings that happened. */
  readonly covered: ReadonlySet<string>;
  /** All events in order. */
  readonly eventLog: readonly string[];
}

/** @param seed determines all events */
export function runSimulation(seed: number): SimulationResult {
  const random = new Random(seed);
  const mode = MODES[random.below(2)] ?? 'logical';
  const hasConcurrentChanges = random.below(2) === 0;
  const hasCatalogue = random.below(2) === 0;
  const isSliced = hasConcurrentChanges && random.below(2) === 0;
  const eventLog: string[] = [
    `${mode}, ${hasConcurrentChanges ? 'concurrent changes' : 'no concurrent changes'}${isSliced ? ', sliced' : ''}${hasCatalogue ? ', with a catalogue' : ''}`,
  ];
  const wrong: string[] = [];
  const logEvent = (what: string): void => void eventLog.push(what);
  const fail = (what: string): void => {
    wrong.push(what);
    logEvent(`WRONG ${what}`);
  };
  const thrown = (error: unknown): void => {
    fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  const clock = new SeededClock(random);
  const model = new PageModel(() => clock.now(), DETECTION_MS[mode]);
  const contextId = `test${pid}${randomBytes(3).toString('hex')}`;
  const publications = new Publications(contextId, random, clock, model);
  const interleavings = new Interleavings();
  const log = new RefreshLog(model, interleavings, fail);
  const checker = new PageChecker(model, log, { hasConcurrentChanges, hasCatalogue }, fail);
  const service = new SimulatedService({
    clock,
    random,
    publications,
    log,
    isSliced,
    mode,
    logEvent,
    fail: thrown,
  });
  const parts = {
    random,
    clock,
    model,
    interleavings,
    publications,
    service,
    checker,
    hasCatalogue,
    logEvent,
    fail,
  };
  const generator = new EventGenerator(parts);
  if (hasConcurrentChanges)
    publications.beforeValues = () => {
      if (random.below(READS_PER_INTERRUPTION) === 0) generator.changeDuringCopy();
    };
  try {
    generator.run(STEPS);
    service.end();
    clock.pass(END_MS);
    if (publications.openFiles > 0) fail(`${publications.openFiles} files are open at the end`);
  } catch (error) {
    thrown(error);
  } finally {
    publications.end();
  }
  const { pages, values } = checker;
  return { steps: STEPS, pages, values, wrong, eventLog, covered: interleavings.covered };
}

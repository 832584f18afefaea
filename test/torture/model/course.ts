// One course: a stage, its publishers, and what happens to them, all from one seed.
import { randomBytes } from 'node:crypto';
import { pid } from 'node:process';
import { Random } from '#app/simulator/course.js';
import { MODES } from '../../support/modes.js';
import { Judge } from './judge.js';
import { Meetings } from './meetings.js';
import { PageModel } from './page-model.js';
import { Player } from './player.js';
import { Publications } from './publications.js';
import { RefreshLog } from './refresh-log.js';
import { SeededClock } from './seeded-clock.js';
import { Stage } from './stage.js';

const STEPS = 150;
/** Of so many reads of values one is interrupted, where trees are torn. */
const READS_AN_INTERRUPTION = 3;
/**
 * A publisher that dies is served until its lock is checked, half a second after the last time. A
 * thread asks for that and goes on, so that it knows only at the next look.
 */
const SILENT_MS = { logical: 600, threaded: 1300 };
const END_MS = 10_000;

export interface CourseResult {
  readonly steps: number;
  readonly pages: number;
  readonly values: number;
  readonly wrong: readonly string[];
  /** See `MEETINGS`. */
  readonly met: ReadonlySet<string>;
  /** What happened, in order. */
  readonly story: readonly string[];
}

/** @param seed the same gives the same course */
export function runCourse(seed: number): CourseResult {
  const random = new Random(seed);
  const mode = MODES[random.below(2)] ?? 'logical';
  const isTorn = random.below(2) === 0;
  const isDivided = isTorn && random.below(2) === 0;
  const story: string[] = [`${mode}, ${isTorn ? 'torn' : 'whole'}${isDivided ? ', divided' : ''}`];
  const wrong: string[] = [];
  const say = (what: string): void => void story.push(what);
  const fail = (what: string): void => {
    wrong.push(what);
    say(`WRONG ${what}`);
  };
  const thrown = (error: unknown): void => {
    fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  const clock = new SeededClock(random);
  const model = new PageModel(() => clock.now(), SILENT_MS[mode]);
  const contextId = `test${pid}${randomBytes(3).toString('hex')}`;
  const publications = new Publications(contextId, random, clock, model);
  const meetings = new Meetings();
  const log = new RefreshLog(model, meetings, fail);
  const judge = new Judge(model, log, isTorn, fail);
  const stage = new Stage({ clock, random, publications, log, isDivided, mode, say, fail: thrown });
  const parts = { random, clock, model, meetings, publications, stage, judge, say, wrong: fail };
  const player = new Player(parts);
  if (isTorn)
    publications.beforeValues = () => {
      if (random.below(READS_AN_INTERRUPTION) === 0) player.interrupt();
    };
  try {
    player.play(STEPS);
    stage.end();
    clock.pass(END_MS);
    if (publications.openFiles > 0) fail(`${publications.openFiles} files are open at the end`);
  } catch (error) {
    thrown(error);
  } finally {
    publications.end();
  }
  const { pages, values } = judge;
  return { steps: STEPS, pages, values, wrong, story, met: meetings.met };
}

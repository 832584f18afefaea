// Random courses of targets and publishers in virtual time, each page compared with a model in plain memory.
import { runCourse } from './model/course.js';
import { MEETINGS } from './model/meetings.js';
import type { Given, Outcome } from './trial.js';

const COURSES_A_MINUTE = 200;
/** So many courses meet all that there is to meet. */
const MANY = 2000;
/** How much of a story is shown where a course went wrong. */
const LAST = 12;

/** `--only courses/SEED` plays the course of one seed, and tells all of its story. */
export async function runModel({ random, minutes, only, log }: Given): Promise<Outcome> {
  const seeds =
    only === ''
      ? Array.from({ length: Math.max(10, Math.round(COURSES_A_MINUTE * minutes)) }, () =>
          random.below(2 ** 31),
        )
      : [Number(only)];
  const wrong: string[] = [];
  const met = new Set<string>();
  const sum = { steps: 0, pages: 0, values: 0 };
  for (const seed of seeds) {
    const course = runCourse(seed);
    sum.steps += course.steps;
    sum.pages += course.pages;
    sum.values += course.values;
    for (const each of course.met) met.add(each);
    const [first] = course.wrong;
    if (first !== undefined) {
      const at = course.story.indexOf(`WRONG ${first}`);
      const story = course.story.slice(Math.max(0, at - LAST), at);
      wrong.push([`--only courses/${seed}: ${first}, after`, ...story].join('\n    '));
    }
    if (only !== '') for (const line of course.story) log(line);
    // The program has its turn between courses.
    await new Promise(setImmediate);
  }
  const missed = MEETINGS.filter((each) => !met.has(each));
  if (seeds.length >= MANY) wrong.push(...missed.map((each) => `never met: ${each}`));
  return {
    tried: sum.steps,
    wrong,
    figures: `${seeds.length} courses, ${sum.pages} pages with ${sum.values} values; ${met.size} of ${MEETINGS.length} meetings`,
  };
}

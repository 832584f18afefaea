// Generated directories of metric files, compared with the pages of the libraries; damaged ones; and those of real workers.
import { existsSync } from 'node:fs';
import { METRIC_LIBRARIES, PYTHON_0_21 } from '../support/metric-libraries.js';
import { tryDamage } from '../multiprocess/damage-trial.js';
import { tryDirectories } from '../multiprocess/equality-trial.js';
import { tryGunicorn } from '../multiprocess/gunicorn-trial.js';
import { TestPrograms } from '../support/processes.js';
import type { Given, Outcome } from './trial.js';

/** A run of 30 minutes tries 102,000 directories and as many damages, in about 20 minutes each. */
const A_MINUTE = 3400;
const LEAST = 500;
/** Seeds of directories; those of the tests are below. */
const FIRST_SEED = 2 ** 31;

export async function runMetricFiles({ seed, minutes, log }: Given): Promise<Outcome> {
  if (!METRIC_LIBRARIES.every(({ tree }) => existsSync(tree)))
    return { tried: 0, wrong: [], figures: 'scripts/metric-libraries.js has fetched no libraries' };
  const count = Math.max(LEAST, Math.round(A_MINUTE * minutes));
  const { directories, series, wrong } = await tryDirectories(FIRST_SEED + seed, count, log);
  return { tried: directories, wrong, figures: `${series} series equal those of the libraries` };
}

export function runMetricFileDamage({ random, minutes, log }: Given): Promise<Outcome> {
  const count = Math.max(LEAST, Math.round(A_MINUTE * minutes));
  const { tried, right, wrong } = tryDamage(random, count, log);
  return Promise.resolve({ tried, wrong, figures: `${right} values right` });
}

const SECONDS_A_MINUTE = 12;
const [MIN_SECONDS, MAX_SECONDS] = [5, 120];

/** Sends requests to Gunicorn while workers end and lose their files. A run of ten minutes or more takes two minutes. */
export async function runGunicorn({ minutes }: Given): Promise<Outcome> {
  if (!existsSync(PYTHON_0_21.tree))
    return { tried: 0, wrong: [], figures: 'scripts/metric-libraries.js has fetched no libraries' };
  const seconds = Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, SECONDS_A_MINUTE * minutes));
  const programs = new TestPrograms();
  try {
    const trial = { seconds, killEveryMs: 700, removeEveryMs: 100 };
    const { requests, pages, workers, removedFiles, wrong } = await tryGunicorn(
      programs,
      PYTHON_0_21,
      trial,
    );
    const figures = `${pages} pages, ${workers} workers, ${removedFiles} removed files`;
    return { tried: requests, wrong, figures };
  } finally {
    await programs.close();
  }
}

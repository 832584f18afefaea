// Sends requests to Gunicorn while its workers end and a job removes their files. The exporter's counters may not fall.
import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from '../end-to-end/page.js';
import { GunicornShop } from '../support/gunicorn-shop.js';
import type { MetricLibrary } from '../support/metric-libraries.js';
import { waitFor } from '../support/processes.js';
import type { TestPrograms } from '../support/processes.js';
import { familiesOf } from './compared-pages.js';
import type { Families } from './compared-pages.js';

const CLIENTS = 3;
/** The pause of a client after each request: together, they send at most 300 requests a second. */
const PAUSE_MS = 10;
const SCRAPE_EVERY_MS = 100;
const MAX_REQUESTS = 60;

export interface GunicornOutcome {
  readonly requests: number;
  readonly pages: number;
  readonly workers: number;
  readonly removedFiles: number;
  readonly wrong: readonly string[];
}

interface GunicornTrial {
  readonly seconds: number;
  /** The pause between two kills of a worker. */
  readonly killEveryMs: number;
  /** The pause between two runs of the job that removes files of workers that have ended. */
  readonly removeEveryMs: number;
}

/** The values of all counters, by series. Histograms and summaries are counters, too. */
function countersOf(families: Families): Map<string, number> {
  const counters = new Map<string, number>();
  for (const [name, { type, series }] of families)
    if (name.startsWith('shop_') && type !== 'gauge')
      for (const [key, value] of series) counters.set(key, value);
  return counters;
}

const sumOf = (counters: ReadonlyMap<string, number>, prefix: string): number =>
  [...counters].reduce((sum, [key, value]) => sum + (key.startsWith(prefix) ? value : 0), 0);

/** The configuration of a target for a directory. */
export const targetOf = (directory: string, more = ''): string => `[[targets]]
app = "shop"
server_key = "shop"
format = "multiprocess"
format_settings = { directories = [${JSON.stringify(directory)}]${more} }
`;

export async function tryGunicorn(
  programs: TestPrograms,
  library: MetricLibrary,
  { seconds, killEveryMs, removeEveryMs }: GunicornTrial,
): Promise<GunicornOutcome> {
  const shop = await GunicornShop.start(programs, library, { maxRequests: MAX_REQUESTS });
  const config = programs.config({ render_min_interval_ms: 1 }, targetOf(shop.directory));
  const exporter = programs.start('exporter', ['--config', config]);
  const url = await exporter.url();
  const wrong: string[] = [];
  const pids = new Set<number>();
  let [pages, removedFiles, kills] = [0, 0, 0];
  let last: ReadonlyMap<string, number> = new Map();

  let looking: Promise<unknown> = Promise.resolve();
  /** One look at a time, so that pages are compared in order. */
  const look = (): Promise<boolean> => {
    const next = looking.then(lookOnce);
    looking = next.catch(() => undefined);
    return next;
  };

  /** Scrapes the page. Each counter must have at least its last value, and at most that of all requests. */
  async function lookOnce(): Promise<boolean> {
    const answered = shop.answered;
    const { status, body } = await scrape(url);
    if (status !== 200) {
      if (last.size > 0) wrong.push(`status ${status}: ${body.slice(0, 200)}`);
      return false;
    }
    pages++;
    const counters = countersOf(familiesOf(body));
    for (const [key, value] of last) {
      const now = counters.get(key);
      if (now === undefined || now < value) wrong.push(`${key} was ${value}, is ${String(now)}`);
    }
    last = counters;
    const shown = sumOf(counters, 'shop_requests_total{');
    if (shown > shop.sent) wrong.push(`${shown} requests are shown, ${shop.sent} were sent`);
    if (shown < answered) wrong.push(`${shown} requests are shown, ${answered} were answered`);
    return true;
  }

  await waitFor('the exporter serves the shop', async () => ((await look()) ? true : undefined));
  const isOver = { now: false };
  const until = async (everyMs: number, act: () => Promise<void> | void): Promise<void> => {
    while (!isOver.now) {
      await act();
      await sleep(everyMs);
    }
  };
  // While a worker is killed, no client begins a request.
  let gate: Promise<void> = Promise.resolve();
  const clients = Array.from({ length: CLIENTS }, () =>
    until(PAUSE_MS, async () => {
      await gate;
      await shop.request();
    }),
  );
  const jobs = [
    until(SCRAPE_EVERY_MS, async () => {
      for (const pid of shop.workers()) pids.add(pid);
      await look();
    }),
    until(removeEveryMs, async () => {
      // The exporter must have read a file once, and have seen the last values of its process.
      const names = shop.deadFiles();
      await look();
      shop.removeFiles(names);
      removedFiles += names.length;
    }),
    until(killEveryMs, async () => {
      gate = shop.killWorker(kills++);
      await gate;
    }),
  ];
  await sleep(seconds * 1000);
  isOver.now = true;
  await Promise.all([...clients, ...jobs]);
  await look();
  for (const name of ['shop_requests_total{', 'shop_request_duration_seconds_count{']) {
    const value = sumOf(last, name);
    if (value !== shop.sent) wrong.push(`${name} is ${value} at the end, sent: ${shop.sent}`);
  }
  await shop.end();
  await exporter.stop();
  return { requests: shop.sent, pages, workers: pids.size, removedFiles, wrong };
}

// A process that publishes the segments of one hostile case and scrapes their targets. Arguments: name of
// the case, context id, seed, scale. It obeys the messages `place`, `scrape URL` and `end`.
import { get } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '#app/simulator/course.js';
import { HOSTILE } from './hostile-cases.js';

const [name = '', contextId = '', seed = '1', scale = '1'] = process.argv.slice(2);
const hostile = HOSTILE.find((each) => each.name === name);
if (hostile === undefined) throw new Error(`There is no hostile case ${JSON.stringify(name)}`);
const made = hostile.make({ contextId, random: new Random(Number(seed)), scale: Number(scale) });
const { keys = ['evil'] } = hostile;

const REST_MS = 500;
const MAX_WAIT_MS = 10_000;
let round = 0;
let timer: NodeJS.Timeout | undefined;

/** Reads a page to its end and discards it. */
const drain = (url: string): Promise<void> =>
  new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) =>
      response.resume().on('close', resolve),
    );
    request.setTimeout(MAX_WAIT_MS, () => request.destroy());
    request.on('error', () => {
      resolve();
    });
  });

async function scrape(url: string): Promise<void> {
  while (process.connected) {
    for (const key of keys) await drain(`${url}?server_key=${key}`);
    await sleep(REST_MS);
  }
}

function end(): void {
  clearInterval(timer);
  for (const forge of made.forges) forge.close();
  process.exit(0);
}

process.on('disconnect', end);
process.on('message', (message: { readonly do: string; readonly url?: string }) => {
  if (message.do === 'place') {
    for (const forge of made.forges) forge.place();
    const { step, everyMs = 1000 } = made;
    if (step !== undefined)
      timer = setInterval(() => {
        step(round++);
      }, everyMs);
    void scrape(message.url ?? '');
  }
  if (message.do === 'end') end();
});
process.send?.('ready');

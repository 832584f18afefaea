// Runs clients that violate HTTP, or use it in the most expensive ways.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Random } from '#app/simulator/course.js';
import { TestPrograms } from '../support/processes.js';
import { atEnd, percentile, usageOf } from './trial.js';
import type { Given, Outcome } from './trial.js';
import { BaselineExporter } from './baseline-exporter.js';
import { ControlPublisher, faultsOf, fetchPage } from './control-target.js';

const ABUSES_A_MINUTE = 4000;
/** The number of abusive requests that run together with one scrape of the control target. */
const BATCH = 100;
const MAX_HOLD_MS = 30;
const MAX_ANSWER_MS = 1000;
/** How much memory may grow for caches and garbage, in MB. */
const MAX_GROWTH_MB = 60;

/** The chunks that a client sends before it disconnects. */
type Abuse = (random: Random) => readonly (string | Buffer)[];

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const garbage = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

const ABUSES: readonly Abuse[] = [
  (random) => [garbage(random, 1 + random.below(2000))],
  (random) => [`GET /metrics HTTP/1.1\r\n`, garbage(random, random.below(200)), '\r\n\r\n'],
  (random) => [get(`/${garbage(random, 40).toString('latin1')}`)],
  (random) => [get(`/metrics/${'%'.repeat(random.below(9))}${random.below(999)}`)],
  (random) => [get(`/metrics?${'a='.repeat(random.below(500))}`)],
  () => [get('/metrics', `X: ${'x'.repeat(70_000)}\r\n`)],
  (random) => [get('/metrics', `X-${random.below(99)}: y\r\n`.repeat(3000))],
  (random) => [get('/metrics').repeat(1 + random.below(100))],
  (random) => [get('/metrics').slice(0, random.below(40))],
  () => ['GET /metrics HTTP/9.9\r\n\r\n'],
  () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  (random) => [
    `${['POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT', 'X'][random.below(6)] ?? ''} /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123`,
  ],
  () => [
    'POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n',
  ],
  () => ['POST /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n'],
  () => [get('/metrics', 'Range: bytes=0-1,5-9,-1\r\n')],
  () => [get('/metrics', 'Expect: 100-continue\r\nContent-Length: 100\r\n')],
  () => [get('/metrics', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')],
  (random) => [get('/metrics', `Accept-Encoding: ${'gzip;q=0.'.repeat(random.below(200))}\r\n`)],
  (random) => [get('/metrics', `Accept: ${'a/b;q=1,'.repeat(random.below(2000))}\r\n`)],
  () => [get('/metrics', 'Content-Length: -1\r\n')],
  () => ['\r\n\r\n\r\n', get('/metrics')],
  () => [get('http://a:b@c:1/metrics?server_key=good')],
  () => [get('/-/metrics'), get('/-/targets'), get('/-/ready')],
  (random) =>
    get('/metrics')
      .split('')
      .slice(0, 1 + random.below(30)),
];

/** Sends one abusive request and disconnects, at once or after a few bytes of the answer. */
function abuse(port: number, random: Random): Promise<void> {
  const pieces = ABUSES[random.below(ABUSES.length)]?.(random) ?? [];
  const holdMs = random.below(MAX_HOLD_MS);
  const reads = random.below(2) === 0;
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
      setTimeout(() => socket.destroy(), holdMs);
    });
    if (reads) socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve();
    });
  });
}

export async function runHttpAbuse({ random, minutes, log }: Given): Promise<Outcome> {
  const programs = new TestPrograms();
  const control = new ControlPublisher(programs.contextId);
  const baseline = await BaselineExporter.start();
  const wrong: string[] = [];
  const times: number[] = [];
  try {
    const config = programs.config({}, '[[targets]]\napp = "good"\nserver_key = "good"\n');
    const exporter = programs.start('exporter', ['--config', config]);
    const url = await exporter.url();
    await exporter.line(/ready:/);
    const port = Number(new URL(url).port);
    const look = async (): Promise<void> => {
      const beganMs = performance.now();
      const answer = await fetchPage(url);
      times.push(answer.ms);
      wrong.push(...faultsOf(answer, 0).slice(0, 3));
      if (answer.ms > MAX_ANSWER_MS + baseline.delaySince(beganMs))
        wrong.push(`an answer after ${answer.ms.toFixed(0)} ms`);
    };
    const count = Math.max(500, Math.round(ABUSES_A_MINUTE * minutes));
    let before = usageOf(exporter.pid);
    let tried = 0;
    for (; tried < count && !exporter.isOver; tried += BATCH) {
      const many = Array.from({ length: BATCH }, () => abuse(port, random));
      await Promise.all([...many, look()]);
      if (tried <= count / 4) before = usageOf(exporter.pid);
      if (tried % 10_000 === 9_900) log(`${tried + BATCH} of ${count} abuses`);
    }
    const { wrong: faults, after } = await atEnd(exporter, before, 2);
    wrong.push(...faults, ...baseline.wrong);
    if (after.mb > before.mb + MAX_GROWTH_MB)
      wrong.push(`memory: ${before.mb.toFixed(0)} MB, then ${after.mb.toFixed(0)} MB`);
    return {
      tried,
      wrong,
      figures: `control scrapes ${percentile(times, 0.5).toFixed(1)} ms, at most ${Math.max(...times).toFixed(0)} ms; ${before.mb.toFixed(0)} to ${after.mb.toFixed(0)} MB`,
    };
  } finally {
    control.close();
    await baseline.close();
    await programs.close();
  }
}

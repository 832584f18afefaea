// Scrapes a page and reads its series. It uses no code of the product.
import { get } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../support/processes.js';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export const scrape = (url: string): Promise<Reply> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { connection: 'close' } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    }).once('error', reject);
  });

/** Waits for a page with status 200. */
export const readyPage = (url: string, withinMs?: number): Promise<string> =>
  waitFor(
    `${url} answers 200`,
    async () => {
      const { status, body } = await scrape(url);
      return status === 200 ? body : undefined;
    },
    withinMs,
  );

/** Waits for an answer with status 503 and this text. */
export const unready = (url: string, text: RegExp): Promise<Reply> =>
  waitFor(`503 with ${text.source}`, async () => {
    const reply = await scrape(url);
    return reply.status === 503 && text.test(reply.body) ? reply : undefined;
  });

/** Waits for a page that satisfies a condition. */
export const pageWith = (
  url: string,
  isRight: (series: ReadonlyMap<string, string>) => boolean,
  what: string,
): Promise<ReadonlyMap<string, string>> =>
  waitFor(what, async () => {
    const { status, body } = await scrape(url);
    if (status !== 200) return undefined;
    const series = seriesOf(body);
    return isRight(series) ? series : undefined;
  });

export type Labels = Readonly<Record<string, string>>;

/** Returns a unique key of a series: its name, and its labels sorted by name. */
export function seriesKey(name: string, labels: Labels): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `${name}${JSON.stringify(Object.fromEntries(pairs))}`;
}

export interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: string;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/gy;

/** Returns every sample of a page. Throws on a line that is neither a sample nor a comment. */
export function samplesOf(page: string): Sample[] {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [whole, name = '', text = '', value = ''] = LINE.exec(line) ?? [];
    if (whole === undefined) throw new Error(`No sample: ${line}`);
    const found = [...text.matchAll(LABEL)];
    if (found.map(([pair]) => pair).join('') !== text) throw new Error(`No labels: ${line}`);
    const labels = found.map(([, label = '', escaped = '']) => [
      label,
      escaped.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c)),
    ]);
    return { name, labels: Object.fromEntries(labels) as Labels, value };
  });
}

/** Returns the values by `seriesKey`. Throws if a series occurs twice. */
export function seriesOf(page: string): Map<string, string> {
  const series = new Map<string, string>();
  for (const { name, labels, value } of samplesOf(page)) {
    const key = seriesKey(name, labels);
    if (series.has(key)) throw new Error(`${key} is there twice`);
    series.set(key, value);
  }
  return series;
}

/** Returns the application's metrics on a page: everything before the internal metrics. */
export const applicationPart = (page: string): string =>
  page.slice(0, page.search(/^# (HELP|TYPE) shm_exporter_/m));

/** Returns the findings of `promtool check metrics`, one per line. */
export function promtoolLines(page: string): string[] {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: page,
    encoding: 'utf8',
  });
  return (stdout + stderr).split('\n').filter((line) => line !== '');
}

/** Returns the errors that Prometheus's OpenMetrics parser finds in a page; empty if there are none. */
export function openMetricsErrors(page: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'open-metrics-'));
  try {
    const file = join(folder, 'page');
    // The only command of promtool that reads OpenMetrics requires a timestamp for each sample.
    writeFileSync(file, page.replace(/^[^#].*$/gm, '$& 1700000000'));
    const words = ['tsdb', 'create-blocks-from', 'openmetrics', file, folder];
    const { status, stderr } = spawnSync('promtool', words, { encoding: 'utf8' });
    return status === 0 ? stderr : `status ${status}: ${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Metric names that the specification requires although the linter reports them. */
export const LINTED = [
  'shm_exporter_target_refresh_duration_p50_ms',
  'shm_exporter_target_refresh_duration_p95_ms',
  'shm_exporter_target_refresh_duration_p99_ms',
  'shm_exporter_worker_dequeue_latency_avg_ms',
  'shm_exporter_worker_dequeue_latency_p50_ms',
  'shm_exporter_worker_dequeue_latency_p95_ms',
  'shm_exporter_worker_dequeue_latency_p99_ms',
  'shm_exporter_worker_rebalance_last_duration_ms',
].map((name) => `${name} metric names should not contain abbreviated units`);

// Starts the shop of examples/gunicorn with real workers, and sends requests to it.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import type { MetricLibrary } from './metric-libraries.js';
import { PROJECT, waitFor } from './processes.js';
import type { Running, TestPrograms } from './processes.js';

interface ShopOptions {
  readonly workers?: number;
  /** The number of requests after which a worker ends; 0: it does not end. */
  readonly maxRequests?: number;
  /** The name of the directory, below the folder of the test. */
  readonly name?: string;
  /**
   * How the workers publish segments, instead of files: by a line of the application, before or after the fork, or
   * without a change of it.
   */
  readonly publishes?: 'line' | 'preloaded line' | 'entry point';
}

const PACKAGE = join(PROJECT, 'sdk/python');
const IMPORT = 'import shm_publisher.prometheus\n';

const PATHS = ['/', '/', '/order', '/missing'];
const METRIC_FILE = /_(\d+)\.db$/;
const REQUEST_TIMEOUT_MS = 30_000;

export class GunicornShop {
  readonly directory: string;
  readonly #url: string;
  readonly #master: Running;
  readonly #hasMetricsOf: (pid: number) => boolean;
  readonly #agent = new Agent({ keepAlive: false });
  #active = 0;
  /** The numbers of requests that were sent and answered. */
  sent = 0;
  answered = 0;
  #onIdle: (() => void) | undefined;

  private constructor(
    directory: string,
    url: string,
    master: Running,
    hasMetricsOf: (pid: number) => boolean,
  ) {
    this.directory = directory;
    this.#url = url;
    this.#master = master;
    this.#hasMetricsOf = hasMetricsOf;
  }

  static async start(
    programs: TestPrograms,
    library: MetricLibrary,
    { workers = 4, maxRequests = 0, name = 'metrics', publishes }: ShopOptions = {},
  ): Promise<GunicornShop> {
    const directory = programs.path(name);
    mkdirSync(directory);
    const port = await freePort();
    const [python = '', ...first] = library.program;
    const source = join(PROJECT, 'examples/gunicorn');
    const folder = publishes?.endsWith('line') === true ? directory : source;
    if (folder === directory) {
      const shop = readFileSync(join(source, 'shop.py'), 'utf8');
      writeFileSync(join(folder, 'shop.py'), shop.replace('from prometheus_client', `${IMPORT}$&`));
    }
    const env = {
      ...library.env,
      ...(publishes === undefined
        ? { PROMETHEUS_MULTIPROC_DIR: directory }
        : {
            PYTHONPATH: `${PACKAGE}:${library.env['PYTHONPATH'] ?? ''}`,
            PROMETHEUS_SHM_SERVER_KEY: publishes === 'line' ? 'shop-{pid}' : 'shop',
            PROMETHEUS_SHM_CONTEXT_ID: programs.contextId,
          }),
    };
    if (publishes === 'entry point') first.push('-m', 'shm_publisher.prometheus');
    const master = programs.command(
      [
        ...[python, ...first, '-m', 'gunicorn', '--config', join(source, 'gunicorn.conf.py')],
        ...(publishes === 'preloaded line' ? ['--preload'] : []),
        ...['--chdir', folder, '--bind', `127.0.0.1:${port}`, '--workers', String(workers)],
        ...['--max-requests', String(maxRequests), '--max-requests-jitter', '0'],
        // Without this, each worker touches a file in the system's folder for temporary files.
        ...['--worker-tmp-dir', programs.path('')],
        'shop:app',
      ],
      { under: ['env', ...Object.entries(env).map(([key, value]) => `${key}=${value}`)] },
    );
    const hasMetricsOf = (pid: number): boolean =>
      publishes === undefined
        ? readdirSync(directory).includes(`summary_${pid}.db`)
        : programs.segments().includes(`${programs.contextId}.pool.shop-${pid}`);
    const shop = new GunicornShop(directory, `http://127.0.0.1:${port}`, master, hasMetricsOf);
    // A preloaded worker publishes from its first update on. Gunicorn listens before it starts workers.
    const isUp = (): boolean =>
      publishes === 'preloaded line'
        ? shop.workers().length === workers
        : shop.areAllPublished(workers);
    await waitFor('all workers of Gunicorn are up', () => (isUp() ? true : undefined));
    return shop;
  }

  /** Whether there are this many workers, and all of them have metrics. */
  areAllPublished(workers: number): boolean {
    const pids = this.workers();
    return pids.length === workers && pids.every(this.#hasMetricsOf);
  }

  /** Replaces all workers by new ones, as a deployment does. */
  async restart(): Promise<void> {
    const former = this.workers();
    process.kill(this.#master.pid, 'SIGHUP');
    await waitFor('the former workers end', () =>
      former.some((pid) => isRunning(pid)) ? undefined : true,
    );
  }

  /** The pids of the workers that live. */
  workers(): number[] {
    const { pid } = this.#master;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return children === '' ? [] : children.split(' ').map(Number);
  }

  /** Sends a request, and waits for the answer. */
  async request(): Promise<void> {
    const path = PATHS[this.sent++ % PATHS.length] ?? '/';
    this.#active++;
    try {
      await new Promise<void>((resolve, reject) => {
        const request = get(this.#url + path, { agent: this.#agent, timeout: REQUEST_TIMEOUT_MS });
        request.once('timeout', () => request.destroy(new Error('no answer in time')));
        request.once('error', reject);
        request.once('response', (response) => {
          response.resume().once('error', reject).once('end', resolve);
        });
      });
      this.answered++;
    } finally {
      if (--this.#active === 0) this.#onIdle?.();
    }
  }

  /** Kills a worker while no request is in progress, since the count of its request would be uncertain. */
  async killWorker(index: number): Promise<void> {
    if (this.#active > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.#onIdle = undefined;
    const workers = this.workers();
    const pid = workers[index % workers.length];
    if (pid === undefined) return;
    process.kill(pid, 'SIGKILL');
    await waitFor(`worker ${pid} ends`, () => (isRunning(pid) ? undefined : true));
  }

  /** The files of processes that have ended. */
  deadFiles(): string[] {
    const isDead = (name: string): boolean => !isRunning(Number(METRIC_FILE.exec(name)?.[1]));
    return readdirSync(this.directory).filter(isDead);
  }

  /** Removes files, as jobs of operators do. */
  removeFiles(names: readonly string[]): void {
    for (const name of names) rmSync(join(this.directory, name), { force: true });
  }

  end(): Promise<unknown> {
    this.#agent.destroy();
    return this.#master.stop();
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

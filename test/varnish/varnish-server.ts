// A real varnishd in a temporary folder, with a backend that the test serves.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { waitFor } from '../support/processes.js';
import { whileStopped } from '../support/stop-process.js';

/** The timeout for the compilation of a VCL program on a busy machine. */
const START_MS = 60_000;
/** Several attempts, because another test may take a free port first. */
const ATTEMPTS = 5;

/** Runs one Varnish instance at a time, named `shop`. */
class VarnishServer {
  #directory: string | undefined;
  readonly #backend: Server = createServer((_request, response) => response.end('ok'));
  #manager: ChildProcess | undefined;
  #admin = '';
  #reloads = 0;
  /** What varnishd printed. */
  #log = '';
  /** The URL at which clients reach Varnish. */
  url = '';

  /** The parent of the work directories, created at first use. */
  get directory(): string {
    if (this.#directory === undefined) {
      this.#directory = mkdtempSync(join(tmpdir(), 'shm-varnish-'));
      // Varnish runs as another user and must reach its work directory.
      chmodSync(this.#directory, 0o755);
    }
    return this.#directory;
  }

  get path(): string {
    return join(this.directory, 'shop');
  }

  /** @param under a program that wraps varnishd, and its arguments */
  async start(under: readonly string[] = []): Promise<void> {
    if (!this.#backend.listening) await once(this.#backend.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#backend.address() as AddressInfo;
    const vcl = join(this.directory, 'shop.vcl');
    writeFileSync(vcl, vclOf(port));
    let message = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      message = await this.#attempt(under, vcl);
      if (message === '') return;
    }
    throw new Error(`varnishd ends at once: ${message}`);
  }

  /**
   * Starts Varnish on free ports. Returns Varnish's message if another program has taken a port, otherwise
   * ''.
   */
  async #attempt(under: readonly string[], vcl: string): Promise<string> {
    const [clients, admin] = [await freePort(), await freePort()];
    this.#admin = `127.0.0.1:${admin}`;
    this.url = `http://127.0.0.1:${clients}`;
    const words = ['-F', '-n', this.path, '-a', `127.0.0.1:${clients}`, '-T', this.#admin];
    const more = ['-p', 'thread_pool_min=10', '-S', 'none', '-f', vcl, '-s', 'default,16m'];
    const [program = '', ...args] = [...under, 'varnishd', ...words, ...more];
    const manager = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#manager = manager;
    this.#log = '';
    manager.stderr.setEncoding('utf8').on('data', (text: string) => (this.#log += text));
    const hasEnded = (): boolean => manager.exitCode !== null || manager.signalCode !== null;
    const answers = () => (hasEnded() ? true : this.#answers());
    await waitFor('varnishd answers', answers, START_MS);
    if (!hasEnded()) return '';
    this.#manager = undefined;
    return this.#log || 'nothing';
  }

  get runs(): boolean {
    return this.#manager !== undefined;
  }

  get managerPid(): number {
    return this.#manager?.pid ?? 0;
  }

  /**
   * The PID of the child process. Undefined if there is none, or if the index has a PID of another namespace.
   */
  get childPid(): number | undefined {
    const index = join(this.path, '_.vsm_child/_.index');
    try {
      const pid = /^# (\d+) /.exec(readFileSync(index, 'latin1'))?.[1] ?? '';
      return childrenOf(this.managerPid).includes(pid) ? Number(pid) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Runs a command of varnishadm. */
  admin(...words: readonly string[]): void {
    const { status, stderr } = spawnSync('varnishadm', ['-T', this.#admin, ...words], {
      encoding: 'utf8',
    });
    if (status !== 0)
      throw new Error(`varnishadm ${words.join(' ')}: ${stderr}; varnishd printed: ${this.#log}`);
  }

  /** Loads the VCL program under a new name, activates it, and returns the name. */
  reload(): string {
    const name = `reload_${++this.#reloads}`;
    this.admin('vcl.load', name, join(this.directory, 'shop.vcl'));
    this.admin('vcl.use', name);
    return name;
  }

  /** Returns the values that varnishstat prints, while manager and child are stopped. */
  varnishstat(): ReadonlyMap<string, bigint> {
    const { stdout } = spawnSync('varnishstat', ['-n', this.path, '-1', '-j'], {
      encoding: 'utf8',
    });
    // JSON.parse would round 64-bit integers.
    const lines = stdout.matchAll(/^ {4}"([^"]+)": \{[^}]*?"value": (\d+)/gm);
    return new Map([...lines].map(([, name = '', value = '']) => [name, BigInt(value)]));
  }

  /** Stops both processes during a read. */
  async still<T>(read: () => T | Promise<T>): Promise<T> {
    const child = await waitFor('Varnish has a child', () => this.childPid);
    return whileStopped([this.managerPid, child], read);
  }

  /** Kills both processes, or the wrapper and the manager. They cannot clean up. */
  async kill(): Promise<void> {
    if (this.#manager === undefined) return;
    const children = childrenOf(this.managerPid);
    const exit = once(this.#manager, 'exit');
    this.#manager.kill('SIGKILL');
    for (const pid of children) process.kill(Number(pid), 'SIGKILL');
    await exit;
    this.#manager = undefined;
    await waitFor('its processes are gone', () => (children.some(isRunning) ? undefined : true));
  }

  async close(): Promise<void> {
    await this.kill();
    this.#backend.closeAllConnections();
    this.#backend.close();
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Requests a path until Varnish answers, since it may close a connection without an answer. */
  async request(path: string): Promise<void> {
    await waitFor(`Varnish answers ${path}`, () =>
      fetch(this.url + path, { headers: { connection: 'close' } }).then(
        () => true as const,
        () => undefined,
      ),
    );
  }

  async #answers(): Promise<true | undefined> {
    try {
      return (await fetch(this.url)).ok ? true : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Creates a server for the calling suite. After the suite, the server is stopped and its folder removed. */
export function varnishServer(): VarnishServer {
  const server = new VarnishServer();
  after(() => server.close());
  return server;
}

function childrenOf(pid: number): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.trim().split(' ').filter(Boolean);
  } catch {
    return [];
  }
}

/** Returns whether a process runs. A killed process stays a zombie until its parent waits for it. */
function isRunning(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/**
 * A VCL program with three backends: one without a probe, one whose probes succeed, and one whose probes
 * fail.
 */
const vclOf = (port: number): string => `vcl 4.1;
probe often { .url = "/"; .interval = 0.2s; .window = 8; .threshold = 2; .initial = 1; }
backend plain { .host = "127.0.0.1"; .port = "${port}"; }
backend good { .host = "127.0.0.1"; .port = "${port}"; .probe = often; }
backend bad { .host = "127.0.0.1"; .port = "9"; .probe = often; }
sub vcl_recv {
  if (req.url == "/good") { set req.backend_hint = good; }
  if (req.url == "/bad") { set req.backend_hint = bad; }
}
`;

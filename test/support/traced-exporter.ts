// Runs an exporter under strace, and returns its system calls that name a certain path.
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Running, TestPrograms } from './processes.js';

/** System calls that change nothing, take no lock and query no lock. */
const HARMLESS =
  /^(openat|read|pread64|fstat|newfstatat|statx|lstat|stat|getdents64|close|inotify_add_watch|fcntl|readlink)$/;

const OWN_DESCRIPTOR = /"\/proc\/self\/fd\/\d+", .*O_DIRECTORY/;

const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

export class TracedExporter {
  readonly #running: Running;
  readonly #folder: string;

  constructor(programs: TestPrograms, config: string) {
    this.#folder = programs.path('trace');
    mkdirSync(this.#folder);
    // strace writes one file per thread. In a common file, it would split a call into two lines if another
    // thread interrupted it.
    const under = ['strace', '-ff', '-y', '-s', '0', '-o', join(this.#folder, 'thread')];
    this.#running = programs.start('exporter', ['--config', config], { under });
  }

  url(): Promise<string> {
    return this.#running.url();
  }

  /** Ends the exporter, and returns the calls that name this path. */
  async callsTo(path: string): Promise<string[]> {
    // strace ends with the traced process.
    process.kill(childOf(this.#running.pid), 'SIGTERM');
    await this.#running.ended;
    return readdirSync(this.#folder)
      .flatMap((name) => readFileSync(join(this.#folder, name), 'utf8').split('\n'))
      .filter((line) => line.includes(path) && /^\w+\(/.test(line));
  }
}

/** Fails if a call does more than open, examine or read a file. */
export function expectToReadOnly(calls: readonly string[]): void {
  for (const call of calls) {
    const [name = ''] = /^\w+/.exec(call) ?? [];
    expect(name, call).to.match(HARMLESS);
    if (name === 'openat') {
      expect(call).to.contain('O_RDONLY');
      // The path of its own descriptor of a directory is no link that others made.
      if (!OWN_DESCRIPTOR.test(call)) expect(call).to.contain('O_NOFOLLOW');
    }
    if (name === 'fcntl') expect(call).not.to.match(/LK/);
  }
  expect(calls.some((call) => call.startsWith('pread64('))).to.equal(true);
}

// Finds the directories that processes name in their environment, on the host and in containers.
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { namesIn } from '../foreign/directory-listing.js';
import { linkOf } from '../foreign/processes.js';
import { pathOf } from '../foreign/verified-file.js';
import type { FoundDirectory } from './directory-finder.js';
import { directoryIn } from './settings.js';

/** The time between two walks through all processes, in milliseconds. */
const WALK_EVERY_MS = 10_000;
/** The maximum number of bytes to read of a process's environment. */
const ENVIRON_BYTES = 131_072;
/** The budget steps for reading the environment of a process. */
const PROCESS_STEPS = 4;

/** The library reads the variable in upper case first. The Ruby library knows only lower case. */
const VARIABLES = ['PROMETHEUS_MULTIPROC_DIR=', 'prometheus_multiproc_dir='];
const HOST_NAME = 'HOSTNAME=';

export class EnvironmentFinder {
  readonly #nowMs: () => number;
  readonly #proc: string;
  readonly #bytes = Buffer.alloc(ENVIRON_BYTES);
  #found: readonly FoundDirectory[] = [];
  #walkedAtMs = -Infinity;

  constructor(nowMs: () => number, proc = '/proc') {
    this.#nowMs = nowMs;
    this.#proc = proc;
  }

  /**
   * Walks through the processes if the last walk is long ago. A step returns the work that it did. The result has each
   * directory once. What this user may not read is not found.
   */
  *finding(): Generator<number, readonly FoundDirectory[]> {
    const nowMs = this.#nowMs();
    if (nowMs - this.#walkedAtMs < WALK_EVERY_MS) return this.#found;
    this.#walkedAtMs = nowMs;
    const own = linkOf(`${this.#proc}/self/ns/mnt`);
    const found = new Map<string, FoundDirectory>();
    for (const pid of this.#pids()) {
      yield PROCESS_STEPS;
      const environment = this.#environmentOf(pid);
      const path = directoryIn(valueOf(environment, ...VARIABLES) ?? '');
      if (path === undefined) continue;
      const space = linkOf(`${this.#proc}/${pid}/ns/mnt`);
      if (space === undefined) continue;
      const key = `${space} ${path}`;
      if (found.has(key)) continue;
      found.set(key, space === own ? onHost(path) : this.#inContainer(pid, path, environment));
    }
    // A directory of the host stays while it exists, so that a restart of the application resets no counter.
    for (const each of this.#found) {
      const path = pathOf(each.place);
      const isKnown = found.has(`${own ?? ''} ${path}`);
      if (each.label === path && !isKnown && existsSync(path)) found.set(path, each);
    }
    return (this.#found = [...found.values()]);
  }

  /** The processes, oldest first: the first one of a container lives as long as the container. */
  #pids(): readonly number[] {
    try {
      return namesIn(this.#proc)
        .filter((name) => /^[1-9]\d*$/.test(name))
        .map(Number)
        .sort((one, other) => one - other);
    } catch {
      return [];
    }
  }

  #inContainer(pid: number, path: string, environment: readonly string[]): FoundDirectory {
    const host = valueOf(environment, HOST_NAME) ?? `process ${pid}`;
    const below = path.split('/').slice(1);
    return { place: { base: `${this.#proc}/${pid}/root`, below }, label: `${host}:${path}` };
  }

  #environmentOf(pid: number): readonly string[] {
    let fd: number;
    try {
      fd = openSync(`${this.#proc}/${pid}/environ`, 'r');
    } catch {
      return [];
    }
    try {
      return this.#bytes.toString('utf8', 0, readSync(fd, this.#bytes)).split('\0');
    } catch {
      return [];
    } finally {
      closeSync(fd);
    }
  }
}

const onHost = (path: string): FoundDirectory => ({
  place: { base: dirname(path), below: [basename(path)] },
  label: path,
});

/** The value of the first of some variables that a process has. @param names each with `=` */
function valueOf(environment: readonly string[], ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const line = environment.find((each) => each.startsWith(name));
    if (line !== undefined) return line.slice(name.length);
  }
  return undefined;
}

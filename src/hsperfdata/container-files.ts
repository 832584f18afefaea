// The counter files of JVMs in containers, found through the processes that run there.
import { readFileSync, readlinkSync } from 'node:fs';
import type { Budget } from '../budget.js';
import type { FoundFile } from './jvm-directory.js';
import { userOf } from './jvm-directory.js';
import { namesIn } from '../foreign/listing.js';
import { inDirectory } from '../foreign/safe-directory.js';
import { isGone } from '../foreign/unreadable.js';
import { fitsAny } from '../rules/wildcard.js';
import { insideNumberOf } from './writer.js';

/** The most threads of a process that are asked where it lives. */
const MAX_THREADS = 64;
/** From one walk through all processes to the next. */
const WALK_EVERY_MS = 5000;
/** Steps of a process that is looked at, and of one whose directories are read. */
const LOOK_STEPS = 2;
const READ_STEPS = 20;

/** Where a process lives. */
interface Home {
  readonly namespaces: string;
  readonly root: string;
}

export class ContainerFiles {
  readonly #users: readonly string[];
  readonly #nowMs: () => number;
  readonly #proc: string;
  #files: readonly FoundFile[] = [];
  #walk: Generator<number, readonly FoundFile[]> | undefined;
  #walkedAtMs = -Infinity;

  constructor(users: readonly string[], nowMs: () => number, proc = '/proc') {
    this.#users = users;
    this.#nowMs = nowMs;
    this.#proc = proc;
  }

  /** Those that the last whole walk found; goes on with the present one as far as the budget allows. */
  find(budget: Budget): readonly FoundFile[] {
    if (this.#walk === undefined && this.#nowMs() - this.#walkedAtMs >= WALK_EVERY_MS)
      this.#walk = this.#walking();
    while (this.#walk !== undefined && !budget.isSpent) {
      const { done, value } = this.#walk.next();
      if (done !== true) {
        budget.spend(value);
        continue;
      }
      this.#files = value;
      this.#walk = undefined;
      this.#walkedAtMs = this.#nowMs();
    }
    return this.#files;
  }

  *#walking(): Generator<number, readonly FoundFile[]> {
    const found: FoundFile[] = [];
    const own = this.#homeOf('self')?.namespaces;
    for (const name of this.#attempt(() => namesIn(this.#proc)) ?? []) {
      if (!/^[1-9]\d*$/.test(name)) continue;
      const home = this.#attempt(() => this.#homeOf(name));
      yield LOOK_STEPS;
      // A process that sees what we see has its file where we look anyway, and under the same number.
      if (home === undefined || home.namespaces === own) continue;
      found.push(...(this.#attempt(() => this.#filesOf(name, home.root)) ?? []));
      yield READ_STEPS;
    }
    return found;
  }

  /** The file of a process, which is named by the number that it has in its container. */
  #filesOf(pid: string, base: string): FoundFile[] {
    const status = readFileSync(`${this.#proc}/${pid}/status`, 'latin1');
    const inside = insideNumberOf(status) ?? pid;
    const users = inDirectory({ base, below: ['tmp'] }, ({ path }) => namesIn(path), true).filter(
      (name) => name.startsWith('hsperfdata_') && fitsAny(userOf(name), this.#users),
    );
    return users.flatMap((user) => {
      const place = { base, below: ['tmp', user] };
      const has = this.#attempt(() => inDirectory(place, ({ path }) => namesIn(path)))?.includes(
        inside,
      );
      return has === true ? [{ place, name: inside, pid: Number(pid) }] : [];
    });
  }

  /** The namespaces of a process, and its root. Its first thread has neither any more once it ended. */
  #homeOf(pid: string): Home | undefined {
    const own = `${this.#proc}/${pid}`;
    try {
      return homeAt(own);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
    for (const thread of namesIn(`${own}/task`).slice(0, MAX_THREADS)) {
      const home = this.#attempt(() => homeAt(`${own}/task/${thread}`));
      if (home !== undefined) return home;
    }
    return undefined;
  }

  /** A process may end, and its files may be none of ours. */
  #attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch {
      return undefined;
    }
  }
}

const homeAt = (path: string): Home => ({
  namespaces: `${readlinkSync(`${path}/ns/mnt`)} ${readlinkSync(`${path}/ns/pid`)}`,
  root: `${path}/root`,
});

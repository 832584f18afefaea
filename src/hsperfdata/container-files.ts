// The counter files of JVMs in containers, found through the processes that run there.
import { readFileSync, readlinkSync } from 'node:fs';
import type { Budget } from '../budget.js';
import type { FoundFile } from './jvm-directory.js';
import { userOf } from './jvm-directory.js';
import { cutSentence, listed, namesIn } from '../foreign/listing.js';
import { innermostPidOf } from '../foreign/processes.js';
import { inDirectory, pathOf } from '../foreign/safe-directory.js';
import { isGone } from '../foreign/unreadable.js';
import { fitsAny } from '../rules/wildcard.js';

/** Most threads of a process whose namespaces are read. */
const MAX_THREADS = 64;
/** Most directories with too many names that have a warning. */
const MAX_CUTS = 16;
/** From one walk through all processes to the next. */
const WALK_EVERY_MS = 5000;
/** Steps for checking a process, and for reading its directories. */
const LOOK_STEPS = 2;
const READ_STEPS = 20;

/** The names in a directory that is shown under one path and opened under another. */
type NamesOf = (shown: string, path: string) => readonly string[];

/** Where a process finds its files. */
interface Home {
  /** Its mount and PID namespaces. */
  readonly namespaces: string;
  readonly root: string;
}

export class ContainerFiles {
  readonly #users: readonly string[];
  readonly #nowMs: () => number;
  readonly #proc: string;
  #files: readonly FoundFile[] = [];
  #cuts = new Set<string>();
  #walk: Generator<number, readonly FoundFile[]> | undefined;
  #walkedAtMs = -Infinity;

  constructor(users: readonly string[], nowMs: () => number, proc = '/proc') {
    this.#users = users;
    this.#nowMs = nowMs;
    this.#proc = proc;
  }

  /** Warnings about directories with more names than were read, one sentence each. */
  get cuts(): readonly string[] {
    return [...this.#cuts];
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
    const cuts = new Set<string>();
    const namesOf = (shown: string, path = shown): readonly string[] => {
      const { names, isCut } = listed(path);
      if (isCut && cuts.size < MAX_CUTS) cuts.add(cutSentence(shown));
      return names;
    };
    for (const name of this.#attempt(() => namesOf(this.#proc)) ?? []) {
      if (!/^[1-9]\d*$/.test(name)) continue;
      const home = this.#attempt(() => this.#homeOf(name));
      yield LOOK_STEPS;
      // A process in our own namespaces has its file in a directory of the host, under the same PID.
      if (home === undefined || home.namespaces === own) continue;
      found.push(...(this.#attempt(() => this.#filesOf(name, home.root, namesOf)) ?? []));
      yield READ_STEPS;
    }
    this.#cuts = cuts;
    return found;
  }

  /** The file of a process, whose name is the PID in its container. */
  #filesOf(pid: string, base: string, namesOf: NamesOf): FoundFile[] {
    const status = readFileSync(`${this.#proc}/${pid}/status`, 'latin1');
    const inside = innermostPidOf(status) ?? pid;
    const tmp = { base, below: ['tmp'] };
    const users = inDirectory(tmp, ({ path }) => namesOf(pathOf(tmp), path), true).filter(
      (name) => name.startsWith('hsperfdata_') && fitsAny(userOf(name), this.#users),
    );
    return users.flatMap((user) => {
      const place = { base, below: ['tmp', user] };
      const has = this.#attempt(() =>
        inDirectory(place, ({ path }) => namesOf(pathOf(place), path)),
      )?.includes(inside);
      return has === true ? [{ place, name: inside, pid: Number(pid) }] : [];
    });
  }

  /** The namespaces and the root of a process: those of another thread if the main thread has ended. */
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

  /** The result of a call, or undefined if it throws: a process may end, or this user may not read its files. */
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

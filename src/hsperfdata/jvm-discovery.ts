// Finds the counter files of JVMs, on the host and in containers.
import { readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Budget } from '../budget.js';
import { messageOf } from '../errors.js';
import { withDirectory, isGone, pathOf } from '../foreign/verified-file.js';
import type { DirectoryPath } from '../foreign/verified-file.js';
import {
  CachedListing,
  truncationWarning,
  readNames,
  namesIn,
} from '../foreign/directory-listing.js';
import type { Clocks, NameList } from '../foreign/directory-listing.js';
import { innermostPidOf } from '../foreign/processes.js';
import { fitsAny } from '../rules/formats.js';

/** A file that may hold the counters of a JVM. */
export interface FoundFile {
  readonly place: DirectoryPath;
  readonly name: string;
  /** The number of the process here; inside of a container it has another one. */
  readonly pid: number;
}

const PID = /^[1-9]\d{0,9}$/;
const PREFIX = /^hsperfdata_/;

/** The user whose JVMs have a directory of this name. */
const userOf = (directory: string): string => directory.replace(PREFIX, '');

class JvmDirectory {
  readonly #listing: CachedListing<readonly FoundFile[]>;
  #isCut = false;

  constructor(place: DirectoryPath, clocks: Clocks) {
    const read = () => {
      const { names, isCut } = withDirectory(place, ({ path }) => readNames(path));
      this.#isCut = isCut;
      const files = names.filter((name) => PID.test(name));
      return files.map((name) => ({ place, name, pid: Number(name) }));
    };
    this.#listing = new CachedListing(pathOf(place), read, clocks);
  }

  /** Whether it has more names than were read. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * The files that are there now; none if the directory is not.
   * @throws Error or Fault NATIVE_FAILED if it cannot be read, or must not be believed
   */
  files(): readonly FoundFile[] {
    return this.#listing.now() ?? [];
  }
}

/** The most directories that one setting may name. */
const MAX_DIRECTORIES = 1024;

interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Why a directory was left out, one sentence each. */
  readonly refusals: readonly string[];
  /** Warnings about directories with more names than are read, one sentence each. */
  readonly cuts: readonly string[];
}

const NO_NAMES: NameList = { names: [], isCut: false };

export class HostFileFinder {
  readonly #globs: readonly { readonly parent: string; readonly list: () => NameList }[];
  readonly #users: readonly string[];
  readonly #clocks: Clocks;
  #directories = new Map<string, JvmDirectory>();

  /**
   * @param directories paths whose last part may hold *
   * @param users those whose files are wanted; empty for all
   */
  constructor(directories: readonly string[], users: readonly string[], clocks: Clocks) {
    this.#globs = directories.map((path) => {
      const parent = dirname(path);
      const pattern = basename(path);
      if (!pattern.includes('*'))
        return { parent, list: () => ({ names: [pattern], isCut: false }) };
      const read = () => {
        const { names, isCut } = readNames(parent);
        return { names: names.filter((name) => fitsAny(name, [pattern])), isCut };
      };
      const listing = new CachedListing(parent, read, clocks);
      return { parent, list: () => listing.now() ?? NO_NAMES };
    });
    this.#users = users;
    this.#clocks = clocks;
  }

  /** The paths of the directories that were there last. */
  get paths(): readonly string[] {
    return [...this.#directories.keys()];
  }

  /** The files that are there now; never throws. */
  find(): FoundFiles {
    const found: FoundFile[] = [];
    const refusals: string[] = [];
    const cuts: string[] = [];
    const attempt = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        refusals.push(messageOf(error));
      }
    };
    const directories = new Map<string, JvmDirectory>();
    for (const { parent, list } of this.#globs)
      attempt(() => {
        const { names, isCut } = list();
        if (isCut) cuts.push(truncationWarning(parent));
        const wanted = names.filter((name) => fitsAny(userOf(name), this.#users));
        if (wanted.length > MAX_DIRECTORIES)
          cuts.push(
            `${parent} has ${wanted.length} directories of counter files, and only ${MAX_DIRECTORIES} are read: remove those of users who are gone`,
          );
        for (const name of wanted.slice(0, MAX_DIRECTORIES)) {
          const path = `${parent}/${name}`;
          const place = { base: parent, below: [name] };
          directories.set(
            path,
            this.#directories.get(path) ?? new JvmDirectory(place, this.#clocks),
          );
        }
      });
    for (const [path, directory] of directories)
      attempt(() => {
        // One by one: there may be more files than a call takes arguments.
        for (const file of directory.files()) found.push(file);
        if (directory.isCut) cuts.push(truncationWarning(path));
      });
    this.#directories = directories;
    return { files: found, refusals, cuts };
  }
}

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

export class ContainerFileFinder {
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
      const { names, isCut } = readNames(path);
      if (isCut && cuts.size < MAX_CUTS) cuts.add(truncationWarning(shown));
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
    const users = withDirectory(tmp, ({ path }) => namesOf(pathOf(tmp), path), true).filter(
      (name) => name.startsWith('hsperfdata_') && fitsAny(userOf(name), this.#users),
    );
    return users.flatMap((user) => {
      const place = { base, below: ['tmp', user] };
      const has = this.#attempt(() =>
        withDirectory(place, ({ path }) => namesOf(pathOf(place), path)),
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

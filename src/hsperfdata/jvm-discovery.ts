// Finds the counter files of JVMs, on the host and in containers.
import { readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Budget } from '../budget.js';
import { messageOf } from '../errors.js';
import { withDirectory, isGone, pathOf } from '../foreign/verified-file.js';
import type { DirectoryPath } from '../foreign/verified-file.js';
import { CachedRead, truncationWarning, readNames, namesIn } from '../foreign/directory-listing.js';
import type { Clocks, DirectoryNames } from '../foreign/directory-listing.js';
import { innermostPidOf } from '../foreign/processes.js';
import { fitsAny } from '../rules/formats.js';

/** A file that may be the counter file of a JVM. */
export interface FoundFile {
  readonly place: DirectoryPath;
  readonly name: string;
  /** The PID in the exporter's PID namespace. The PID in a container's namespace differs. */
  readonly pid: number;
}

const PID = /^[1-9]\d{0,9}$/;
const PREFIX = /^hsperfdata_/;

const userOf = (directory: string): string => directory.replace(PREFIX, '');

interface DirectoryFiles {
  readonly files: readonly FoundFile[];
  readonly isTruncated: boolean;
}

/**
 * The counter files of one user. Reading them throws Error, or Fault NATIVE_FAILED if other users may write to the
 * directory.
 */
const userDirectory = (place: DirectoryPath, clocks: Clocks): CachedRead<DirectoryFiles> =>
  new CachedRead(
    pathOf(place),
    () => {
      const { names, isTruncated } = withDirectory(place, ({ path }) => readNames(path));
      const files = names.filter((name) => PID.test(name));
      return { files: files.map((name) => ({ place, name, pid: Number(name) })), isTruncated };
    },
    clocks,
  );

/** The maximum number of directories that one configured path may match. */
const MAX_DIRECTORIES = 1024;

interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** The reasons why directories were skipped, one sentence each. */
  readonly refusals: readonly string[];
  /** Warnings about truncated directories, one sentence each. */
  readonly truncations: readonly string[];
}

const NO_NAMES: DirectoryNames = { names: [], isTruncated: false };

/** Finds counter files in directories of the host. */
export class HostFileFinder {
  readonly #globs: readonly { readonly parent: string; readonly list: () => DirectoryNames }[];
  readonly #users: readonly string[];
  readonly #clocks: Clocks;
  #directories = new Map<string, CachedRead<DirectoryFiles>>();

  /**
   * @param directories paths whose last part may contain `*`
   * @param users patterns of the user names to include; empty for all users
   */
  constructor(directories: readonly string[], users: readonly string[], clocks: Clocks) {
    this.#globs = directories.map((path) => {
      const parent = dirname(path);
      const pattern = basename(path);
      if (!pattern.includes('*'))
        return { parent, list: () => ({ names: [pattern], isTruncated: false }) };
      const read = () => {
        const { names, isTruncated } = readNames(parent);
        return { names: names.filter((name) => fitsAny(name, [pattern])), isTruncated };
      };
      const listing = new CachedRead(parent, read, clocks);
      return { parent, list: () => listing.now() ?? NO_NAMES };
    });
    this.#users = users;
    this.#clocks = clocks;
  }

  /** The directories that the last call of `find` found. */
  get paths(): readonly string[] {
    return [...this.#directories.keys()];
  }

  /** Returns the files that exist now; never throws. */
  find(): FoundFiles {
    const found: FoundFile[] = [];
    const refusals: string[] = [];
    const truncations: string[] = [];
    const attempt = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        refusals.push(messageOf(error));
      }
    };
    const directories = new Map<string, CachedRead<DirectoryFiles>>();
    for (const { parent, list } of this.#globs)
      attempt(() => {
        const { names, isTruncated } = list();
        if (isTruncated) truncations.push(truncationWarning(parent));
        const wanted = names.filter((name) => fitsAny(userOf(name), this.#users));
        if (wanted.length > MAX_DIRECTORIES)
          truncations.push(
            `${parent} has ${wanted.length} directories of counter files, and only ${MAX_DIRECTORIES} are read: remove the directories of former users`,
          );
        for (const name of wanted.slice(0, MAX_DIRECTORIES)) {
          const path = `${parent}/${name}`;
          const place = { base: parent, below: [name] };
          directories.set(path, this.#directories.get(path) ?? userDirectory(place, this.#clocks));
        }
      });
    for (const [path, directory] of directories)
      attempt(() => {
        const { files, isTruncated } = directory.now() ?? { files: [], isTruncated: false };
        // Not `push(...files)`: there may be more files than a call can have arguments.
        for (const file of files) found.push(file);
        if (isTruncated) truncations.push(truncationWarning(path));
      });
    this.#directories = directories;
    return { files: found, refusals, truncations };
  }
}

/** The maximum number of threads of a process that are tried until the namespaces of one of them can be read. */
const MAX_THREADS = 64;
/** The maximum number of warnings about truncated directories. */
const MAX_WARNINGS = 16;
/** The time between two walks through all processes, in milliseconds. */
const WALK_EVERY_MS = 5000;
/** The budget steps for checking a process, and for reading its directories. */
const CHECK_STEPS = 2;
const READ_STEPS = 20;

/** Reads the names in the directory at `path`. Messages show the path `shownPath` instead. */
type NamesOf = (shownPath: string, path: string) => readonly string[];

/** The namespaces and the root directory of a process. */
interface Home {
  /** The mount namespace and the PID namespace. */
  readonly namespaces: string;
  readonly root: string;
}

/** Finds counter files in containers, through the root directories of processes in /proc. */
export class ContainerFileFinder {
  readonly #users: readonly string[];
  readonly #nowMs: () => number;
  readonly #proc: string;
  /** The files of the last complete walk; undefined before the first one. */
  #files: readonly FoundFile[] | undefined;
  #truncations = new Set<string>();
  #walk: Generator<number, readonly FoundFile[]> | undefined;
  #walkedAtMs = -Infinity;

  constructor(users: readonly string[], nowMs: () => number, proc = '/proc') {
    this.#users = users;
    this.#nowMs = nowMs;
    this.#proc = proc;
  }

  /** Warnings about truncated directories, one sentence each. */
  get truncations(): readonly string[] {
    return [...this.#truncations];
  }

  /** Whether the first walk is complete. */
  get hasWalked(): boolean {
    return this.#files !== undefined;
  }

  /** Continues the walk through the processes within the budget. Returns the files of the last complete walk. */
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
    return this.#files ?? [];
  }

  *#walking(): Generator<number, readonly FoundFile[]> {
    const found: FoundFile[] = [];
    const own = this.#homeOf('self')?.namespaces;
    const truncations = new Set<string>();
    const namesOf = (shownPath: string, path = shownPath): readonly string[] => {
      const { names, isTruncated } = readNames(path);
      if (isTruncated && truncations.size < MAX_WARNINGS)
        truncations.add(truncationWarning(shownPath));
      return names;
    };
    for (const name of this.#attempt(() => namesOf(this.#proc)) ?? []) {
      if (!/^[1-9]\d*$/.test(name)) continue;
      const home = this.#attempt(() => this.#homeOf(name));
      yield CHECK_STEPS;
      // Skip processes in our own namespaces: their files are in directories of the host, under the same PID.
      if (home === undefined || home.namespaces === own) continue;
      found.push(...(this.#attempt(() => this.#filesOf(name, home.root, namesOf)) ?? []));
      yield READ_STEPS;
    }
    this.#truncations = truncations;
    return found;
  }

  /** The counter files of a process. The name of each file is the PID of the process in its container. */
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

  /**
   * Reads the namespaces and the root directory of a process. If its main thread has ended, reads those of another
   * thread.
   */
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

  /** The result of `read`; undefined if it throws, for example because the process ended or belongs to another user. */
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

// The names in a directory, read again when it changed, and now and then.
import { lstatSync, opendirSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { monotonicMs } from '../clock.js';

/** The most names that are read of a directory. */
const MAX_NAMES = 65_536;
/** A directory that changed so lately may change again without another time of change. */
const RECENT_MS = 50;
/** One that does not say that it changed is read again after so many milliseconds. */
const RESCAN_MS = 10_000;

/** Milliseconds of a clock that does not step, and of one that tells the time. */
export interface Clocks {
  readonly nowMs: () => number;
  readonly unixMs: () => number;
}

export const CLOCKS: Clocks = {
  nowMs: monotonicMs,
  unixMs: () => performance.timeOrigin + performance.now(),
};

export class CachedListing<T> {
  readonly path: string;
  readonly #read: () => T;
  readonly #clocks: Clocks;
  #last: T | undefined;
  #stamp = '';
  #readAtMs = -Infinity;

  /** @param read reads what the directory holds */
  constructor(path: string, read: () => T, clocks: Clocks) {
    this.path = path;
    this.#read = read;
    this.#clocks = clocks;
  }

  /** What it holds; undefined if it is not there. @throws whatever `read` throws */
  now(): T | undefined {
    const stat = lstatSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const nowMs = this.#clocks.nowMs();
    const isRecent =
      Math.abs(this.#clocks.unixMs() - Number(stat.mtimeNs / 1_000_000n)) < RECENT_MS;
    const stamp = `${stat.dev} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}`;
    const isOld = nowMs - this.#readAtMs >= RESCAN_MS;
    if (this.#last !== undefined && stamp === this.#stamp && !isOld) return this.#last;
    this.#last = undefined;
    this.#last = this.#read();
    this.#readAtMs = nowMs;
    this.#stamp = isRecent ? '' : stamp;
    return this.#last;
  }
}

export interface NameList {
  readonly names: string[];
  /** Whether the directory has more names than are read. */
  readonly isCut: boolean;
}

/** The names in a directory, a bounded number of them. @throws Error if it cannot be read */
export function readNames(path: string): NameList {
  const directory = opendirSync(path);
  const names: string[] = [];
  try {
    for (let each = directory.readSync(); each !== null; each = directory.readSync()) {
      if (names.length === MAX_NAMES) return { names, isCut: true };
      names.push(each.name);
    }
  } finally {
    directory.closeSync();
  }
  return { names, isCut: false };
}

/** Like `readNames`, for callers that need no more than these names. */
export const namesIn = (path: string): string[] => readNames(path).names;

/** The warning about a directory that has more names than are read. */
export const truncationWarning = (path: string): string =>
  `${path} has more than ${MAX_NAMES} names, and only so many are read: remove unused files`;

/** The most directories that are watched; others are looked at once a second. */
const MAX_WATCHES = 256;

export class DirectoryWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #moved: () => void;

  /** @param moved called when a name came or went */
  constructor(moved: () => void) {
    this.#moved = moved;
  }

  /** Watches these directories and no others. */
  follow(paths: readonly string[]): void {
    const wanted = new Set(paths.slice(0, MAX_WATCHES));
    for (const path of this.#watchers.keys()) if (!wanted.has(path)) this.#end(path);
    for (const path of wanted) if (!this.#watchers.has(path)) this.#begin(path);
  }

  close(): void {
    for (const path of [...this.#watchers.keys()]) this.#end(path);
  }

  #begin(path: string): void {
    try {
      const watcher = watch(path, { persistent: false });
      this.#watchers.set(path, watcher);
      // What is written into a file is no change of the directory.
      watcher.on('change', (event) => {
        if (event === 'rename') this.#moved();
      });
      watcher.on('error', () => {
        this.#end(path);
      });
    } catch {
      // It may be gone, or the system watches too many already: each look lists what changed anyway.
    }
  }

  #end(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }
}

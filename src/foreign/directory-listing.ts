// Reads directories: a bounded number of names, cached until the directory changes.
import { opendirSync, statSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { monotonicMs } from '../clock.js';
import { runToEnd } from '../run-to-end.js';

/** The maximum number of names to read from a directory. Further names are ignored. */
const MAX_NAMES = 65_536;
/** Within this many milliseconds, two changes of a directory may give it the same time stamp. */
const RECENT_MS = 50;
/** After this many milliseconds, a directory is read again even if its time stamp is unchanged. */
const RESCAN_MS = 10_000;

export interface Clocks {
  /** Reads a monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Reads the wall clock, in milliseconds since the Unix epoch. */
  readonly unixMs: () => number;
}

export const CLOCKS: Clocks = {
  nowMs: monotonicMs,
  unixMs: () => performance.timeOrigin + performance.now(),
};

/** Data read from a file or directory, cached until its time stamps change. */
export class CachedRead<T> {
  readonly path: string;
  readonly #read: () => T;
  readonly #clocks: Clocks;
  #last: T | undefined;
  #stamp = '';
  #readAtMs = -Infinity;

  /** @param read makes the data from the current content of the file or directory */
  constructor(path: string, read: () => T, clocks: Clocks) {
    this.path = path;
    this.#read = read;
    this.#clocks = clocks;
  }

  /** Returns the current data; undefined if the directory does not exist. @throws the errors of `read` */
  now(): T | undefined {
    // The path may be a link, such as /var/run, whose own time stamps never change.
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false });
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

export interface DirectoryNames {
  readonly names: string[];
  /** Whether the directory has more names than the limit. */
  readonly isTruncated: boolean;
}

/** The number of names that a step reads, and the budget steps for it. */
const STEP_NAMES = 256;
const LIST_STEPS = 16;

/** Reads the names in a directory, up to the limit. @throws Error if the directory cannot be read */
export const readNames = (path: string): DirectoryNames => runToEnd(readingNames(path));

/** `readNames` in small steps, which return the work that they did. */
export function* readingNames(path: string): Generator<number, DirectoryNames> {
  const directory = opendirSync(path);
  const names: string[] = [];
  try {
    for (let each = directory.readSync(); each !== null; each = directory.readSync()) {
      if (names.length === MAX_NAMES) return { names, isTruncated: true };
      names.push(each.name);
      if (names.length % STEP_NAMES === 0) yield LIST_STEPS;
    }
  } finally {
    directory.closeSync();
  }
  return { names, isTruncated: false };
}

/** Reads names like `readNames`, and ignores truncation. */
export const namesIn = (path: string): string[] => readNames(path).names;

/** The warning about a directory with more names than the limit. */
export const truncationWarning = (path: string): string =>
  `${path} has more than ${MAX_NAMES} files and folders; the others are not read: remove unused files`;

/** The maximum number of directories that inotify watches. Further directories are only polled. */
const MAX_WATCHES = 256;

/** Watches a changing set of directories for added and removed names. */
export class DirectoryWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onChange: () => void;

  /** @param onChange called after a name was added or removed */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Replaces the set of watched directories. */
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
      // Ignore events of type `change`, which report writes to files in the directory.
      watcher.on('change', (event) => {
        if (event === 'rename') this.#onChange();
      });
      watcher.on('error', () => {
        this.#end(path);
      });
    } catch {
      // The directory may be gone, or the inotify limit reached. Polling finds its changes anyway.
    }
  }

  #end(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }
}

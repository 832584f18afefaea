// Notes at once that something came or went in a directory, where the system tells.
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';

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

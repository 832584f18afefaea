// Detects whether the counters of files change, as those of a running JVM do.

/** Most files whose first digest is kept. */
const MAX_FILES = 64;

/** Compares each two successive digests of a file. */
export class ChangeDetector {
  /** The first of the two digests, by file name. */
  readonly #first = new Map<string, string>();

  /** Whether a file can be compared now. If not, it must wait for the second digest of another file. */
  hasRoom(name: string): boolean {
    return this.#first.has(name) || this.#first.size < MAX_FILES;
  }

  /** Whether a file changed since the last call; undefined for the first of two calls. */
  changed(name: string, digest: string): boolean | undefined {
    const first = this.#first.get(name);
    if (first === undefined) this.#first.set(name, digest);
    else this.#first.delete(name);
    return first === undefined ? undefined : digest !== first;
  }

  forget(name: string): void {
    this.#first.delete(name);
  }
}

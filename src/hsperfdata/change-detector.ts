// Detects whether the counters of files change, as those of a running JVM do.

/** The most files that are compared at once. */
const MAX_FILES = 64;

/** Compares two successive digests of each file. */
export class ChangeDetector {
  /** The first of the two digests, by file name. */
  readonly #first = new Map<string, string>();

  /** Whether a file can be compared now, or must wait until the result for another one is known. */
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

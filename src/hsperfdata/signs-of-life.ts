// Whether somebody changes the counters of a file: what tells of a JVM whose process cannot be found here.

/** The most files that are compared at once. */
const MAX_FILES = 64;

export class SignsOfLife {
  /** What the files held at the first of two looks, by their names. */
  readonly #first = new Map<string, string>();

  /** Whether a file can be compared now; others have their turn when those before them are decided. */
  hasRoom(name: string): boolean {
    return this.#first.has(name) || this.#first.size < MAX_FILES;
  }

  /** Whether a file changed since the look before; undefined for the first of two looks. */
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

// Collects everything that is wrong with a file, so that one run shows all of it.
import { Fault } from '../../errors.js';
import { invalid, problemAt } from '../../document/document.js';
import type { Problem } from '../../document/document.js';
import type { Path } from '../../document/key-path.js';
import type { Mark, Places } from '../../document/places.js';

export class Problems {
  /** By place and text: two values of a list may be wrong in the same way, which is told once. */
  readonly #found = new Map<string, Problem>();

  constructor(readonly places: Places) {}

  get count(): number {
    return this.#found.size;
  }

  /** Notes one sentence about the value at `path`, or about its key; an empty path is the file. */
  add(path: Path, sentence: string, mark?: keyof Mark): void {
    const problem = problemAt(this.places, path, sentence, mark);
    this.#found.set(`${problem.offset} ${problem.text}`, problem);
  }

  /** The result of `attempt`; a Fault becomes a problem at `path` and gives undefined. */
  catch<T>(path: Path, attempt: () => T): T | undefined {
    try {
      return attempt();
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      this.add(path, thrown.message);
      return undefined;
    }
  }

  /** @throws Fault CONFIG_INVALID with one line a problem, when there is any */
  throwIfAny(): void {
    if (this.count > 0) throw invalid(this.places, [...this.#found.values()]);
  }
}

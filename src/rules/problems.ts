// Collects everything that is wrong with a file, so that one run shows all of it.
import { invalid, problemAt } from '../document/document.js';
import type { Document, Problem } from '../document/document.js';
import type { Path } from '../document/key-path.js';
import type { Mark, Places } from '../document/places.js';
import { Fault } from '../errors.js';
import type { Report, Rule } from './rule.js';

export class Problems {
  /** By place and text: two values of a list may be wrong in the same way, which is reported once. */
  readonly #found = new Map<string, Problem>();

  readonly #keys = new Set<string | number>();

  constructor(readonly places: Places) {}

  get count(): number {
    return this.#found.size;
  }

  /** What is right of a document; what is wrong with it becomes problems. */
  read<T>({ values }: Document, rule: Rule<T>): T | undefined {
    return rule.read(values, [], this.report);
  }

  /** Notes one sentence about the value at `path`, or about its key; an empty path is the file. */
  add(path: Path, sentence: string, mark?: keyof Mark): void {
    this.note(problemAt(this.places, path, sentence, mark));
    const [key] = path;
    if (key !== undefined) this.#keys.add(key);
  }

  /** Whether something is wrong with a key of the top level, or below it. */
  concern(key: string): boolean {
    return this.#keys.has(key);
  }

  note(problem: Problem): void {
    this.#found.set(`${problem.offset} ${problem.text}`, problem);
  }

  /** The same as `add`, for rules. */
  readonly report: Report = (path, sentence, mark) => {
    this.add(path, sentence, mark);
  };

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

  /** The fault with one line a problem; undefined where there is none. */
  get fault(): Fault | undefined {
    return this.count === 0 ? undefined : invalid(this.places, [...this.#found.values()]);
  }

  /** @throws Fault CONFIG_INVALID with one line a problem, when there is any */
  throwIfAny(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }
}

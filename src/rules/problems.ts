// Collects all problems of a file, so that one run reports all of them.
import { invalid, keyPath } from '../document/document.js';
import type {
  Mark,
  Path,
  Problem,
  SettingsDocument,
  SourcePositions,
} from '../document/document.js';
import { Fault } from '../errors.js';
import type { ReportProblem, Rule } from './rule.js';

export class Problems {
  /**
   * By position and text: two items of a list may have the same problem, which is reported once.
   */
  readonly #found = new Map<string, Problem>();

  readonly #keys = new Set<string | number>();

  /** @param nameOf how messages name the value at a path */
  constructor(
    readonly places: SourcePositions,
    readonly nameOf: (path: Path) => string = keyPath,
  ) {}

  get count(): number {
    return this.#found.size;
  }

  /** The valid part of a document; each error in the rest becomes a problem. */
  read<T>({ values }: SettingsDocument, rule: Rule<T>): T | undefined {
    return rule.read(values, [], this.report);
  }

  /** Notes one sentence about the value at `path`, or about its key; an empty path is the file. */
  add(path: Path, sentence: string, mark: keyof Mark = 'value'): void {
    const text = path.length === 0 ? sentence : `${this.nameOf(path)}: ${sentence}`;
    this.note({ offset: this.places.offset(path, mark) ?? 0, text });
    const [key] = path;
    if (key !== undefined) this.#keys.add(key);
  }

  /** True if a top-level key has a problem, or anything below it. */
  concern(key: string): boolean {
    return this.#keys.has(key);
  }

  note(problem: Problem): void {
    this.#found.set(`${problem.offset} ${problem.text}`, problem);
  }

  /** The same as `add`, for rules. */
  readonly report: ReportProblem = (path, sentence, mark) => {
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

  /** The fault with one line for each problem; undefined if there is none. */
  get fault(): Fault | undefined {
    return this.count === 0 ? undefined : invalid(this.places, [...this.#found.values()]);
  }

  /** @throws Fault CONFIG_INVALID with one line for each problem, if there is any */
  throwIfAny(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }
}

/**
 * The values of a document in the shape of `rule`.
 * @param nameOf how messages name the value at a path
 * @throws Fault CONFIG_INVALID with one line for each problem, in the order of the file
 */
export function checked<T>(
  document: SettingsDocument,
  rule: Rule<T>,
  nameOf?: (path: Path) => string,
): T {
  const problems = new Problems(document.places, nameOf);
  const value = problems.read(document, rule);
  problems.throwIfAny();
  if (value === undefined) throw new Fault('CONFIG_INVALID', 'a rule refuses without a reason');
  return value;
}

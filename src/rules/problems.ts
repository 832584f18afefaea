// Collects all problems of a file, so that one run reports all of them.
import { invalid, keyPath } from '../document/document.js';
import type {
  Mark,
  Path,
  Problem,
  SettingsDocument,
  SourcePositions,
} from '../document/document.js';
import { Fault, catchFault } from '../errors.js';
import type { ReportProblem, Rule } from './rule.js';

export class Problems {
  /** Problems by position and text. The same problem of two items of a list is reported once. */
  readonly #found = new Map<string, Problem>();

  readonly #keys = new Set<string | number>();

  /** @param nameOf returns the name of the value at a path, for messages */
  constructor(
    readonly places: SourcePositions,
    readonly nameOf: (path: Path) => string = keyPath,
  ) {}

  get count(): number {
    return this.#found.size;
  }

  /** Returns the valid part of a document, and adds the problems of the rest. */
  read<T>({ values }: SettingsDocument, rule: Rule<T>): T | undefined {
    return rule.read(values, [], this.report);
  }

  /** Adds a sentence about the value or key at `path`; an empty path means the whole file. */
  add(path: Path, sentence: string, mark: keyof Mark = 'value'): void {
    const text = path.length === 0 ? sentence : `${this.nameOf(path)}: ${sentence}`;
    this.note({ offset: this.places.offset(path, mark) ?? 0, text });
    const [key] = path;
    if (key !== undefined) this.#keys.add(key);
  }

  /** Whether a top-level key, or a value below it, has a problem. */
  concern(key: string): boolean {
    return this.#keys.has(key);
  }

  note(problem: Problem): void {
    this.#found.set(`${problem.offset} ${problem.text}`, problem);
  }

  /** The method `add` as a function that rules can call. */
  readonly report: ReportProblem = (path, sentence, mark) => {
    this.add(path, sentence, mark);
  };

  /** Returns the result of `attempt`. If it throws a Fault, adds a problem at `path` and returns undefined. */
  catch<T>(path: Path, attempt: () => T): T | undefined {
    return catchFault(attempt, ({ message }) => {
      this.add(path, message);
    });
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
 * Reads the values of a document by a rule.
 * @param nameOf returns the name of the value at a path, for messages
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

// The problems and warnings found while one component of a configuration file is checked.
import { keyPath } from '../../document/key-path.js';
import type { Path } from '../../document/key-path.js';
import type { Problems } from '../../rules/problems.js';

/** Collects problems and warnings, each with its position in the file. */
export class Notes {
  constructor(
    readonly path: Path,
    readonly problems: Problems,
    readonly warnings: string[],
  ) {}

  warn(key: string, sentence: string): void {
    const { places } = this.problems;
    const path = [...this.path, key];
    const offset = places.offset(path, 'value') ?? 0;
    this.warnings.push(`${places.at(offset)}: ${keyPath(path)}: ${sentence}`);
  }

  /** The result of `attempt`, or undefined after its Fault is noted. */
  catch<T>(key: string, attempt: () => T): T | undefined {
    return this.problems.catch([...this.path, key], attempt);
  }
}

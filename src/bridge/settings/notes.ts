// What is found about one component of a configuration file while it is checked.
import { problemAt } from '../../document/document.js';
import type { Document, Problem } from '../../document/document.js';
import { keyPath } from '../../document/key-path.js';
import type { Path } from '../../document/key-path.js';
import { Fault } from '../../errors.js';

/** Gathers problems and warnings, each with its place in the file. */
export class Notes {
  constructor(
    readonly document: Document,
    readonly path: Path,
    readonly problems: Problem[],
    readonly warnings: string[],
  ) {}

  warn(key: string, sentence: string): void {
    const { places } = this.document;
    const path = [...this.path, key];
    const offset = places.offset(path, 'value') ?? 0;
    this.warnings.push(`${places.at(offset)}: ${keyPath(path)}: ${sentence}`);
  }

  /** The result of `attempt`, or undefined after its Fault is noted. */
  catch<T>(key: string, attempt: () => T): T | undefined {
    try {
      return attempt();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { places } = this.document;
      this.problems.push(problemAt(places, [...this.path, key], error.message));
      return undefined;
    }
  }
}

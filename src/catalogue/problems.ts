// Collects everything that is wrong with a file, so that one run shows all of it.
import { Fault } from '../errors.js';

export class Problems {
  readonly #lines = new Set<string>();

  /** `from` names the file or the part of the configuration; empty where the place says enough. */
  constructor(readonly from: string) {}

  get count(): number {
    return this.#lines.size;
  }

  /** Notes one sentence about the key at `where`; an empty `where` is the whole file. */
  add(where: string, sentence: string): void {
    this.#lines.add([this.from, where, sentence].filter((part) => part !== '').join(': '));
  }

  /** The result of `attempt`; a Fault becomes a problem at `where` and gives undefined. */
  catch<T>(where: string, attempt: () => T): T | undefined {
    try {
      return attempt();
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      this.add(where, thrown.message);
      return undefined;
    }
  }

  /** @throws Fault CONFIG_INVALID with one line a problem, when there is any */
  throwIfAny(): void {
    if (this.count > 0) throw new Fault('CONFIG_INVALID', [...this.#lines].join('\n'));
  }
}

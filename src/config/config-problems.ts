// The problems of a configuration, by the names of its settings.
import type { SettingsDocument } from '../document/document.js';
import { Fault } from '../errors.js';
import { Problems } from '../rules/problems.js';
import { settingNames } from '../rules/table.js';
import { OPTIONS } from './options.js';

/** `metrics_port (--metrics-port)`, or `--metrics-port (metrics_port)` where the option gave the value. */
export const settingName = settingNames(OPTIONS);

/** Files that cannot be read, and problems of those that can, in the order of their discovery. */
export class ConfigProblems {
  readonly #files = new Map<SettingsDocument, Problems>();
  readonly #all: (Problems | Fault)[] = [];

  /** The problems of one file. */
  of(document: SettingsDocument): Problems {
    const known = this.#files.get(document);
    if (known !== undefined) return known;
    const problems = new Problems(document.places, settingName);
    this.#files.set(document, problems);
    this.#all.push(problems);
    return problems;
  }

  /** Adds a fault whose message names its own position. */
  note(fault: Fault): void {
    this.#all.push(fault);
  }

  /** The result of `read`, or undefined after its Fault is added. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      this.note(thrown);
      return undefined;
    }
  }

  /** The fault that reports all problems; undefined if there is none. */
  get fault(): Fault | undefined {
    const faults = this.#all.flatMap((each) => (each instanceof Fault ? each : (each.fault ?? [])));
    if (faults.length === 0) return undefined;
    return new Fault('CONFIG_INVALID', faults.map(({ message }) => message).join('\n'));
  }

  /** @throws Fault CONFIG_INVALID if there is any problem */
  throwIfAny(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }
}

// The problems of a configuration, with the names of its settings.
import type { SettingsDocument } from '../document/document.js';
import { Fault, catchFault } from '../errors.js';
import { Problems } from '../rules/problems.js';
import { settingNames } from '../rules/table.js';
import { OPTIONS } from './options.js';

/** Names a setting: `metrics_port (--metrics-port)`, or `--metrics-port (metrics_port)` if the option gave the value. */
export const settingName = settingNames(OPTIONS);

/** Collects the problems of all files of a configuration, in the order of their discovery. */
export class ConfigProblems {
  readonly #files = new Map<SettingsDocument, Problems>();
  readonly #all: (Problems | Fault)[] = [];

  of(document: SettingsDocument): Problems {
    const known = this.#files.get(document);
    if (known !== undefined) return known;
    const problems = new Problems(document.places, settingName);
    this.#files.set(document, problems);
    this.#all.push(problems);
    return problems;
  }

  /** Adds a fault whose message already contains a position. */
  note(fault: Fault): void {
    this.#all.push(fault);
  }

  /** Returns the result of `read`. If `read` throws a Fault, adds the Fault and returns undefined. */
  attempt<T>(read: () => T): T | undefined {
    return catchFault(read, (fault) => {
      this.note(fault);
    });
  }

  get fault(): Fault | undefined {
    const faults = this.#all.flatMap((each) => (each instanceof Fault ? each : (each.fault ?? [])));
    if (faults.length === 0) return undefined;
    return new Fault('CONFIG_INVALID', faults.map(({ message }) => message).join('\n'));
  }

  throwIfAny(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }
}

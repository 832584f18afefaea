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
  /** The problems of files of `targets.d` by file name. They cost only the targets of the file. */
  readonly #ofTargetFiles = new Map<string, Problems | Fault>();

  of(document: SettingsDocument): Problems {
    const known = this.#files.get(document);
    if (known !== undefined) return known;
    const problems = this.#add(document, settingName);
    this.#all.push(problems);
    return problems;
  }

  /** The problems of a file of `targets.d`. The method `of` returns them, too. */
  ofTargetFile(name: string, document: SettingsDocument): Problems {
    const problems = this.#add(document);
    this.#ofTargetFiles.set(name, problems);
    return problems;
  }

  /** Adds the fault of a file of `targets.d` that has no readable document. */
  noteTargetFile(name: string, fault: Fault): void {
    this.#ofTargetFiles.set(name, fault);
  }

  /** The faults of the faulty files of `targets.d`, by file name. */
  get targetFileFaults(): ReadonlyMap<string, Fault> {
    return new Map(
      [...this.#ofTargetFiles].flatMap(([name, each]) => {
        const fault = faultOf(each);
        return fault === undefined ? [] : [[name, fault] as const];
      }),
    );
  }

  #add(document: SettingsDocument, nameOf?: typeof settingName): Problems {
    const problems = new Problems(document.places, nameOf);
    this.#files.set(document, problems);
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

  /** All problems except those of files of `targets.d`. */
  get fault(): Fault | undefined {
    const faults = this.#all.flatMap((each) => faultOf(each) ?? []);
    if (faults.length === 0) return undefined;
    return new Fault('CONFIG_INVALID', faults.map(({ message }) => message).join('\n'));
  }

  throwIfAny(): void {
    const { fault } = this;
    if (fault !== undefined) throw fault;
  }
}

const faultOf = (problems: Problems | Fault): Fault | undefined =>
  problems instanceof Fault ? problems : problems.fault;

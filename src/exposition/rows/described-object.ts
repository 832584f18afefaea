// One object whose variables become metrics as their publisher describes them, if no row reads them.
import type { PathLabels } from '../../catalogue/match/filters.js';
import type { LabelValues } from '../../catalogue/match/patterns.js';
import type { RuleSet } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import type { StatedMetric, Variable } from '../../model.js';
import type { Kernel } from '../kernel/kernel.js';
import { labelsText } from '../text/labels.js';
import { ObjectLabels } from './label-text.js';
import type { LabelText } from './label-text.js';
import type { SelfDescribed } from './self-described.js';
import { withStated } from './stated-labels.js';

/** What all objects of a target have in common. */
export interface Describing {
  readonly rows: SelfDescribed;
  readonly kernel: Kernel;
  readonly pathLabels: PathLabels;
}

export interface ObjectFacts {
  /** Rules of classes that the target leaves out: what they read is not shown. */
  readonly leftOut: readonly RuleSet[];
  /** The labels that the format states. */
  readonly stated: LabelValues | undefined;
}

/** Shows the variables of an object as their publisher describes them. */
export interface Describes {
  /** The row of a variable; undefined if it is left out. */
  rowOf(variable: Variable): Row | undefined;
  /** The labels of its lines; `textOf` is the same for people. */
  labelsOf(variable: Variable): LabelText;
  textOf(variable: Variable): string;
  close(): void;
}

/** An object of a class whose rows leave all other variables to their publisher. */
export class DescribedByClass implements Describes {
  readonly #rows: SelfDescribed;
  readonly #labels: ObjectLabels;

  /** @param labels of the class, whose owner closes them */
  constructor({ rows }: Describing, labels: ObjectLabels) {
    this.#rows = rows;
    this.#labels = labels;
  }

  rowOf(variable: Variable): Row {
    return this.#rows.rowFor(variable);
  }
  labelsOf(): LabelText {
    return this.#labels.with('');
  }
  textOf(): string {
    return this.#labels.textWith('');
  }
  close(): void {
    // The labels are not its own.
  }
}

export class DescribedObject implements Describes {
  readonly #target: Describing;
  readonly #seedPath: string;
  readonly #facts: ObjectFacts;
  /** Made for the first variable that needs it: rows may read all variables of an object. */
  #labels: ObjectLabels | undefined;
  /** Of metrics that the format states: each has its own. */
  #stated: ObjectLabels | undefined;

  constructor(target: Describing, seedPath: string, facts: ObjectFacts) {
    this.#target = target;
    this.#seedPath = seedPath;
    this.#facts = facts;
  }

  /** Undefined if a row of a class reads it that was left out. */
  rowOf(variable: Variable): Row | undefined {
    if (this.#facts.leftOut.some((set) => set.usesOf(variable.name).length > 0)) return undefined;
    const { rows } = this.#target;
    return rows.rowFor(variable, rows.statedFor(variable));
  }

  labelsOf(variable: Variable): LabelText {
    const stated = this.#target.rows.statedFor(variable);
    return stated === undefined ? this.#ownLabels() : this.#statedLabels(this.#textWith(stated));
  }

  textOf(variable: Variable): string {
    const stated = this.#target.rows.statedFor(variable);
    return stated === undefined ? this.#text : this.#textWith(stated);
  }

  close(): void {
    this.#labels?.close();
    this.#stated?.close();
  }

  /** Its seed path, or `@root`, what `path_labels` makes of it, and what its format states. */
  get #text(): string {
    const object = this.#seedPath === '' ? '@root' : this.#seedPath;
    const labels = { object, ...this.#target.pathLabels(this.#seedPath) };
    return labelsText(withStated(labels, this.#facts.stated));
  }

  /** Without the seed path: the format says what tells its metrics apart. */
  #textWith({ labels }: StatedMetric): string {
    const ofPath = this.#target.pathLabels(this.#seedPath);
    return labelsText({ ...ofPath, ...this.#facts.stated, ...labels });
  }

  #ownLabels(): LabelText {
    this.#labels ??= new ObjectLabels(this.#target.kernel, this.#text);
    return this.#labels.with('');
  }

  #statedLabels(text: string): LabelText {
    this.#stated ??= new ObjectLabels(this.#target.kernel, '');
    return this.#stated.with(text);
  }
}

// One object whose variables become metrics as their publisher describes them, if no row reads them.
import type { PathLabels } from '../../catalogue/match/path-labels.js';
import type { Labels } from '../../catalogue/match/path-pattern.js';
import type { RuleSet } from '../../catalogue/match/rule-set.js';
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
  readonly stated: Labels | undefined;
}

/** A variable as its publisher describes it. */
export interface AsDescribed {
  readonly row: Row;
  /** For lines; `text` is the same for people. */
  readonly labels: () => LabelText;
  readonly text: () => string;
}

export class DescribedObject {
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

  /** How a variable is shown that no row of the target reads; undefined if one of a class reads it that was left out. */
  shown(variable: Variable): AsDescribed | undefined {
    if (this.#facts.leftOut.some((set) => set.usesOf(variable.name).length > 0)) return undefined;
    const { rows } = this.#target;
    const stated = rows.statedFor(variable);
    const row = rows.rowFor(variable, stated);
    if (stated === undefined)
      return { row, labels: () => this.#ownLabels(), text: () => this.#text };
    const text = () => this.#textOf(stated);
    return { row, labels: () => this.#statedLabels(text()), text };
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
  #textOf({ labels }: StatedMetric): string {
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

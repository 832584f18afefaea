// One object whose variables become metrics as their publisher describes them, if no row reads them.
import type { PathLabels } from '../../catalogue/match/path-labels.js';
import type { Labels } from '../../catalogue/match/path-pattern.js';
import type { RuleSet } from '../../catalogue/match/rule-set.js';
import type { Row } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';
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

export class DescribedObject {
  readonly #target: Describing;
  readonly #seedPath: string;
  readonly #facts: ObjectFacts;
  /** Made for the first variable that needs it: rows may read all variables of an object. */
  #labels: ObjectLabels | undefined;

  constructor(target: Describing, seedPath: string, facts: ObjectFacts) {
    this.#target = target;
    this.#seedPath = seedPath;
    this.#facts = facts;
  }

  /** The row of a variable that no row of the target reads; undefined if one of a class reads it that was left out. */
  rowFor(variable: Variable): Row | undefined {
    if (this.#facts.leftOut.some((set) => set.usesOf(variable.name).length > 0)) return undefined;
    return this.#target.rows.rowFor(variable);
  }

  /** Its seed path, or `@root`, what `path_labels` makes of it, and what its format states. */
  get text(): string {
    const object = this.#seedPath === '' ? '@root' : this.#seedPath;
    const labels = { object, ...this.#target.pathLabels(this.#seedPath) };
    return labelsText(withStated(labels, this.#facts.stated));
  }

  /** The same for lines. */
  get labels(): LabelText {
    this.#labels ??= new ObjectLabels(this.#target.kernel, this.text);
    return this.#labels.with('');
  }

  close(): void {
    this.#labels?.close();
  }
}

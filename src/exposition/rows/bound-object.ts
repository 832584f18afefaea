// An object whose rows are found: the rows of each class that reads it, and which of its variables own their names.
import type { RowUse, RuleSet } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import type { Variable } from '../../model.js';
import type { Describes } from './described-object.js';
import type { LabelText, ObjectLabels } from './label-text.js';
import type { NamedSlots } from './named-slots.js';
import type { Namesakes } from './namesakes.js';

/** A row as it applies to one variable or object, with the text of its labels. */
export interface Use {
  readonly row: Row;
  readonly labels: LabelText;
}

export interface BoundObject {
  /** The rows of each class that reads it, with the text of the labels from its path. */
  readonly rules: readonly { readonly set: RuleSet; readonly labels: ObjectLabels }[];
  /** The rows for objects below it. */
  readonly below: readonly RuleSet[];
  readonly states: readonly Use[];
  /** Shows variables that no row reads; undefined if the target leaves them out. */
  readonly described: Describes | undefined;
  /** The slot of the variable of each name; of several, the latest. */
  readonly variables: NamedSlots;
  /** The earlier ones, for the few names that several variables have. */
  earlier: Map<string, Namesakes> | undefined;
}

const NO_USES: readonly RowUse[] = [];

/** The rows that apply while the object exists. */
export const setsOf = ({
  rules,
  below,
}: Pick<BoundObject, 'rules' | 'below'>): readonly RuleSet[] => [
  ...rules.map(({ set }) => set),
  ...below,
];

/** The rows that read a variable of the object, without those that describe it. */
export function usesOf({ rules }: BoundObject, { name }: Variable): readonly RowUse[] {
  const [first] = rules;
  if (first === undefined) return NO_USES;
  // Mostly one class reads an object, and there may be a million variables.
  return rules.length === 1 ? first.set.usesOf(name) : rules.flatMap(({ set }) => set.usesOf(name));
}

export function closeBound({ rules, described }: BoundObject): void {
  for (const { labels } of rules) labels.close();
  described?.close();
}

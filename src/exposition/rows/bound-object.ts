// A tracked object with the rows that read it, and the slots of its variables by name.
import type { RowMatch, ClassRows } from '../../catalogue/match/rules.js';
import type { Row } from '../../catalogue/row.js';
import type { IndexedHeap } from '../../collections/indexed-heap.js';
import type { Variable } from '../../model.js';
import type { LabelText, ObjectLabels } from './labels.js';
import type { Describes } from './self-described.js';

/** A row that shows the state of an object, with the text of its labels. */
export interface StateRow {
  readonly row: Row;
  readonly labels: LabelText;
}

export interface BoundObject {
  /** The rows of each class that reads it, with the text of the labels from its path. */
  readonly rules: readonly { readonly set: ClassRows; readonly labels: ObjectLabels }[];
  /** The rows for objects below it. */
  readonly below: readonly ClassRows[];
  readonly states: readonly StateRow[];
  /** Shows variables that no row reads; undefined if the target leaves them out. */
  readonly described: Describes | undefined;
  /** The slot of the variable of each name; of several, the latest. */
  readonly variables: Map<string, number>;
  /** The earlier variables of the few names that several variables share. */
  earlier: Map<string, IndexedHeap<Variable>> | undefined;
}

const NO_MATCHES: readonly RowMatch[] = [];

/** The rows that apply while the object exists. */
export const setsOf = ({
  rules,
  below,
}: Pick<BoundObject, 'rules' | 'below'>): readonly ClassRows[] => [
  ...rules.map(({ set }) => set),
  ...below,
];

/** The rows that read a variable of the object, without those that describe it. */
export function matchesOf({ rules }: BoundObject, { name }: Variable): readonly RowMatch[] {
  const [first] = rules;
  if (first === undefined) return NO_MATCHES;
  // Mostly one class reads an object: avoid an allocation for each variable.
  return rules.length === 1
    ? first.set.matchesOf(name)
    : rules.flatMap(({ set }) => set.matchesOf(name));
}

export function closeBound({ rules, described }: BoundObject): void {
  for (const { labels } of rules) labels.close();
  described?.close();
}

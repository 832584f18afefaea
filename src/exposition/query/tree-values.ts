// Formats the values of a tree, read during a query, as text for people.
import type { Frame, ManagedObject, Source, TreeValue, Variable } from '../../model.js';
import { NodeValues } from '../read/node-values.js';
import type { SlotCopies } from '../read/node-values.js';
import { numberText } from '../text/text-syntax.js';

/** The maximum number of characters of a text that are shown, and the maximum number of buckets or quantiles. */
const MAX_TEXT = 160;
const MAX_PARTS = 8;

export interface ReadValue {
  readonly value: TreeValue;
  /** The whole value as text, for searches. */
  readonly text: string;
  readonly isSynced: boolean;
}

export class TreeValues {
  readonly #values: NodeValues;

  constructor(source: Pick<Source, 'readFrame' | 'frameBytes'>, slots: SlotCopies) {
    this.#values = new NodeValues(source, slots);
  }

  ofObject(object: ManagedObject): ReadValue {
    const state = this.#values.ofObject(object);
    return state === undefined ? NOT_SYNCED : plain(state);
  }

  ofVariable(variable: Variable): ReadValue {
    const value = this.#values.ofVariable(variable);
    if (value.kind === 'unsynced') return NOT_SYNCED;
    if (value.kind === 'no-copy') return NO_COPY;
    if (value.kind === 'frame') return ofFrame(value.frame, variable.schema);
    return plain(variable.type === 'bool' ? String(value.number !== 0n) : numberText(value.number));
  }
}

export const noValue = (reason: string, isSynced: boolean): ReadValue => ({
  value: { kind: 'none', reason },
  text: '',
  isSynced,
});
const NOT_SYNCED = noValue('not synced', false);
const NO_COPY = noValue('no consistent copy', true);

const plain = (text: string): ReadValue => ({
  value: { kind: 'plain', text },
  text,
  isSynced: true,
});

function ofFrame(frame: Frame, schema: readonly number[]): ReadValue {
  if (frame.type === 'summary') return plain(summaryText(frame, schema));
  if (frame.type === 'histogram') return plain(histogramText(frame, schema));
  const { text } = frame;
  const beginning = text.slice(0, MAX_TEXT).replace(/[\ud800-\udbff]$/, '');
  return {
    value: { kind: 'text', text: beginning, characters: text.length },
    text,
    isSynced: true,
  };
}

function summaryText(
  { count, sum, values }: Extract<Frame, { type: 'summary' }>,
  schema: readonly number[],
): string {
  const quantiles = schema.map((quantile, i) => `${quantile}: ${numberText(values[i] ?? NaN)}`);
  return [...totals(count, sum), ...first(quantiles, 'quantiles')].join(', ');
}

function histogramText(
  { counts, sum }: Extract<Frame, { type: 'histogram' }>,
  schema: readonly number[],
): string {
  const count = counts.reduce((total, each) => total + each, 0n);
  const buckets = [...counts].flatMap((each, i) => {
    if (each === 0n) return [];
    const bound = schema[i];
    return [`${bound === undefined ? `>${schema.at(-1) ?? '-Inf'}` : `≤${bound}`}: ${each}`];
  });
  return [...totals(count, sum), ...first(buckets, 'buckets')].join(', ');
}

const totals = (count: bigint, sum: number): readonly string[] => [
  `${count} observed`,
  `sum ${numberText(withoutErrors(sum))}`,
];

/** The number of digits to which a sum is rounded, and the relative size of the rounding errors of its additions. */
const SUM_DIGITS = 12;
const SUM_ERROR = 1e-13;

/** A sum without the rounding errors of its additions: 46.8 for 46.79999999999948. Other sums stay exact. */
function withoutErrors(sum: number): number {
  const rounded = Number(sum.toPrecision(SUM_DIGITS));
  const isClose = Math.abs(rounded - sum) <= Math.abs(sum) * SUM_ERROR;
  return isClose && String(rounded).length < String(sum).length ? rounded : sum;
}

function first(parts: readonly string[], what: string): readonly string[] {
  const more = parts.length - MAX_PARTS;
  return more > 0 ? [...parts.slice(0, MAX_PARTS), `and ${more} more ${what}`] : parts;
}

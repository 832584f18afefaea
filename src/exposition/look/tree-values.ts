// The values of a tree for people, read from the source at the moment of the look.
import type { Frame, ManagedObject, Source, TreeValue, Variable } from '../../model.js';
import { numberText } from '../text/number-text.js';
import { ItemValues } from './item-values.js';
import type { SlotCopies } from './slot-copies.js';

/** The most characters of a text, and the most buckets or quantiles. */
const MAX_TEXT = 160;
const MAX_PARTS = 8;

export interface ReadValue {
  readonly value: TreeValue;
  /** What a search looks in: the whole text. */
  readonly text: string;
  readonly isSynced: boolean;
}

export class TreeValues {
  readonly #values: ItemValues;

  constructor(source: Pick<Source, 'readFrame' | 'frameBytes'>, slots: SlotCopies) {
    this.#values = new ItemValues(source, slots);
  }

  /** Bytes of frames that were copied. */
  get bytes(): number {
    return this.#values.bytes;
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

const NOT_SYNCED: ReadValue = {
  value: { kind: 'none', reason: 'not synced' },
  text: '',
  isSynced: false,
};
const NO_COPY: ReadValue = {
  value: { kind: 'none', reason: 'no whole copy' },
  text: '',
  isSynced: true,
};

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
  `sum ${numberText(sum)}`,
];

function first(parts: readonly string[], what: string): readonly string[] {
  const more = parts.length - MAX_PARTS;
  return more > 0 ? [...parts.slice(0, MAX_PARTS), `and ${more} more ${what}`] : parts;
}

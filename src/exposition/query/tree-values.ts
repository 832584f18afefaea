// Reads the values of a tree from the source during a query, as text for people.
import { Budget } from '../../budget.js';
import { OBJECT_STATES } from '../../model.js';
import type { Frame, ManagedObject, SlotRef, Source, TreeValue, Variable } from '../../model.js';
import { isFramed } from '../../published.js';
import { exactOf } from '../read/slot-value.js';
import { syncedWord } from '../read/slots.js';
import { numberText } from '../text/text-syntax.js';

const PAGE_SLOTS = 512;
const MAX_PAGES = 64;

interface SlotPage {
  readonly values: Buffer;
  /**
   * The words before and after the copy of the values. A value is valid if both words say so (docs/segment-format.md,
   * 9).
   */
  readonly before: Buffer;
  readonly after: Buffer;
}

export class SlotCopies {
  readonly #source: Pick<Source, 'readSlots' | 'readWords'>;
  readonly #pages = new Map<number, SlotPage>();
  /** Pages to reuse, since a query of a large tree would otherwise produce much garbage. */
  readonly #free: SlotPage[] = [];

  constructor(source: Pick<Source, 'readSlots' | 'readWords'>) {
    this.#source = source;
  }

  /** The bits of a slot; undefined while it is not synced. */
  bits({ slot, incarnation }: SlotRef): bigint | undefined {
    const { values, before, after } = this.#page(Math.floor(slot / PAGE_SLOTS));
    const at = slot % PAGE_SLOTS;
    const word = syncedWord(incarnation);
    const isValid = before.readUInt32LE(at * 4) === word && after.readUInt32LE(at * 4) === word;
    return isValid ? values.readBigUInt64LE(at * 8) : undefined;
  }

  /** Drops all copies, so that later reads copy the current values. */
  clear(): void {
    this.#free.push(...this.#pages.values());
    this.#pages.clear();
  }

  #page(number: number): SlotPage {
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    if (this.#pages.size >= MAX_PAGES) this.clear();
    const page = this.#free.pop() ?? newPage();
    const first = number * PAGE_SLOTS;
    for (const words of [page.before, page.after]) words.fill(0);
    this.#source.readWords(first, PAGE_SLOTS, page.before);
    this.#source.readSlots(first, PAGE_SLOTS, page.values);
    this.#source.readWords(first, PAGE_SLOTS, page.after);
    this.#pages.set(number, page);
    return page;
  }
}

const newPage = (): SlotPage => ({
  values: Buffer.alloc(PAGE_SLOTS * 8),
  before: Buffer.alloc(PAGE_SLOTS * 4),
  after: Buffer.alloc(PAGE_SLOTS * 4),
});

/** The maximum number of times that frames are copied again because they changed during a copy. */
const MAX_REPEATS = 10_000;

export type NodeValue =
  /** The node has no value yet. */
  | { readonly kind: 'unsynced' }
  /** No consistent copy of the node's frame could be made within the budget. */
  | { readonly kind: 'no-copy' }
  /** A bool is 0 or 1. */
  | { readonly kind: 'number'; readonly number: bigint | number }
  | { readonly kind: 'frame'; readonly frame: Frame };

export class NodeValues {
  readonly #source: Pick<Source, 'readFrame'>;
  readonly #slots: SlotCopies;
  /** The budget of copies. It suffices to read all frames of a valid publisher twice: each read takes two copies. */
  readonly #frames: Budget;

  constructor(source: Pick<Source, 'readFrame' | 'frameBytes'>, slots: SlotCopies) {
    this.#source = source;
    this.#slots = slots;
    this.#frames = new Budget({ bytes: 4 * source.frameBytes, steps: MAX_REPEATS });
  }

  /** Bytes of frames that were copied. */
  get bytes(): number {
    return this.#frames.bytes;
  }

  /** The state of an object; undefined while it is not synced. */
  ofObject(object: ManagedObject): string | undefined {
    const bits = this.#slots.bits(object);
    if (bits === undefined) return undefined;
    return OBJECT_STATES[Number(bits)] ?? `state ${bits}, which has no name`;
  }

  ofVariable(variable: Variable): NodeValue {
    const framed = isFramed(variable.type);
    // Read the frame before the word: the word then tells whether the frame still belonged to the variable.
    const frame = framed ? this.#source.readFrame(variable, this.#frames) : undefined;
    const bits = this.#slots.bits(variable);
    if (bits === undefined) return { kind: 'unsynced' };
    if (!framed) return { kind: 'number', number: exactOf(bits, variable) };
    return frame === undefined ? { kind: 'no-copy' } : { kind: 'frame', frame };
  }
}

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

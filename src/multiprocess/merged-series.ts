// Series whose values are merged from several files: numbers, histograms and summaries.
import type { PolledObject, PolledSource, SlotWriter } from '../foreign/polled-source.js';
import type { Declaration, Frame, Variable } from '../model.js';
import type { Dialect } from './entry-key.js';
import type { FileKind } from './file-name.js';
import { FoldedNumber } from './folded-number.js';
import type { NumberRule } from './folded-number.js';

/** A number of a series. */
export type SeriesNumber = FoldedNumber<MergedSeries>;

/** A bucket of a histogram: its upper bound, and the same as text. */
export interface Bucket {
  readonly bound: number;
  readonly le: string;
}

/** Which number of a series it is. */
export type SeriesPart = 'value' | 'sum' | 'count' | Bucket;

/** The series of a family that all have one type, one rule and one dialect. */
export interface SeriesGroup {
  readonly kind: FileKind;
  readonly dialect: Dialect;
  readonly help: string;
  readonly family: Family;
  /** The series by name. */
  readonly series: Map<string, MergedSeries>;
  /** The number of entries of files that belong to the series. */
  inputs: number;
}

/** The groups with the same name, oldest first. Only the first one is shown. */
export interface Family {
  readonly name: string;
  readonly groups: SeriesGroup[];
}

export interface SeriesFacts {
  readonly group: SeriesGroup;
  /** The name of the series: the metric, and the labels as JSON. */
  readonly name: string;
  /** The name of the metric. */
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Where series become variables. */
export interface SeriesPlace {
  readonly source: PolledSource;
  readonly object: PolledObject;
}

/** The greatest number of observations. Greater counts of a double are rounded, too. */
const MAX_COUNT = 2 ** 64;

/** A series, or the series of one histogram or summary. */
export abstract class MergedSeries {
  readonly facts: SeriesFacts;
  readonly #place: SeriesPlace;
  #variable: Variable | undefined;
  readonly #writer: SlotWriter = { writeSlots: () => undefined };

  constructor(facts: SeriesFacts, place: SeriesPlace) {
    this.facts = facts;
    this.#place = place;
  }

  /** Whether no entry belongs to the series, and no removed one stays counted. */
  abstract get isEmpty(): boolean;

  /** A number of the series; undefined if the series may not have it. */
  abstract number(part: SeriesPart): SeriesNumber | undefined;

  /** Begins to fold the numbers. */
  beginFold(): void {
    for (const number of this.numbers()) number.beginFold();
  }

  protected abstract numbers(): Iterable<SeriesNumber>;

  /** Ends the fold of the numbers, and shows their values. Returns the reason if the values are invalid. */
  abstract show(): string | undefined;

  hide(): void {
    if (this.#variable !== undefined)
      this.#place.source.removeVariable(this.#writer, this.#variable);
    this.#variable = undefined;
  }

  protected showNumber(kind: 'counter' | 'gauge', value: number | undefined): void {
    if (value === undefined) {
      this.hide();
      return;
    }
    const { slots } = this.#place.source;
    const { slot } = this.#shown('f64', kind);
    slots.setDouble(slot, value);
    slots.setSynced(slot, true);
  }

  protected showFrame(
    frame: Exclude<Frame, { type: 'string' }>,
    schema: readonly number[] = [],
    bounds: readonly string[] = [],
  ): void {
    const variable = this.#shown(frame.type, 'unknown', schema, bounds);
    this.#place.source.setFrame(variable, frame);
    this.#place.source.slots.setSynced(variable.slot, true);
  }

  /** The variable. A variable with another schema is replaced. */
  #shown(
    type: Declaration['type'],
    kind: Declaration['kind'],
    schema: readonly number[] = [],
    bounds: readonly string[] = [],
  ): Variable {
    if (this.#variable !== undefined && isSame(this.#variable.schema, schema))
      return this.#variable;
    this.hide();
    const { source, object } = this.#place;
    const { name, metric, labels, group } = this.facts;
    const { help } = group;
    return (this.#variable = source.addVariable(this.#writer, object, {
      ...{ name, type, kind, unit: '', help, schema },
      metric: { name: metric, help, labels, bounds },
    }));
  }
}

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one === other || (one.length === other.length && one.every((bound, at) => bound === other[at]));

export class NumberSeries extends MergedSeries {
  readonly #number: SeriesNumber;
  readonly #kind: 'counter' | 'gauge';

  constructor(facts: SeriesFacts, place: SeriesPlace, kind: 'counter' | 'gauge', rule: NumberRule) {
    super(facts, place);
    this.#kind = kind;
    this.#number = new FoldedNumber<MergedSeries>(this, rule);
  }

  get isEmpty(): boolean {
    return this.#number.isEmpty;
  }

  number(): SeriesNumber {
    return this.#number;
  }

  protected numbers(): SeriesNumber[] {
    return [this.#number];
  }

  show(): undefined {
    this.showNumber(this.#kind, this.#number.endFold());
  }
}

export class SummarySeries extends MergedSeries {
  readonly #count: SeriesNumber = new FoldedNumber<MergedSeries>(this, 'count');
  readonly #sum: SeriesNumber = new FoldedNumber<MergedSeries>(this, 'count');

  get isEmpty(): boolean {
    return this.#count.isEmpty && this.#sum.isEmpty;
  }

  number(part: SeriesPart): SeriesNumber {
    return part === 'count' ? this.#count : this.#sum;
  }

  protected numbers(): SeriesNumber[] {
    return [this.#count, this.#sum];
  }

  show(): string | undefined {
    const [count, sum] = [this.#count.endFold(), this.#sum.endFold()];
    // A process adds the count of a summary before its sum.
    if (count === undefined || sum === undefined) {
      this.hide();
      return undefined;
    }
    if (!isCount(count)) {
      this.hide();
      return `has the count ${count}, allowed: integers from 0 on`;
    }
    this.showFrame({ type: 'summary', count: BigInt(count), sum, values: new Float64Array() });
    return undefined;
  }
}

/** The maximum number of finite bounds of a histogram. */
export const MAX_BOUNDS = 512;

/** The finite bounds of a histogram in order, as numbers and as texts. */
interface Bounds {
  readonly schema: readonly number[];
  readonly texts: readonly string[];
}

export class HistogramSeries extends MergedSeries {
  readonly #sum: SeriesNumber = new FoldedNumber<MergedSeries>(this, 'count');
  /** The counts by upper bound. */
  readonly #buckets = new Map<number, SeriesNumber>();
  /** The bounds as the library writes them. Of several texts, such as 1 and 1.0, the first counts. */
  readonly #texts = new Map<number, string>();
  /** Whether each count includes those of the buckets before. */
  readonly #isCumulative: boolean;
  /** Undefined after a bucket was added or removed. */
  #bounds: Bounds | undefined;

  constructor(facts: SeriesFacts, place: SeriesPlace, isCumulative: boolean) {
    super(facts, place);
    this.#isCumulative = isCumulative;
  }

  get isEmpty(): boolean {
    for (const bucket of this.#buckets.values()) if (!bucket.isEmpty) return false;
    return this.#sum.isEmpty;
  }

  number(part: SeriesPart): SeriesNumber | undefined {
    return typeof part === 'object' ? this.#bucket(part) : this.#sum;
  }

  protected numbers(): SeriesNumber[] {
    return [this.#sum, ...this.#buckets.values()];
  }

  #bucket({ bound, le }: Bucket): SeriesNumber | undefined {
    let bucket = this.#buckets.get(bound);
    if (bucket === undefined) {
      if (this.#buckets.size > MAX_BOUNDS) return undefined;
      bucket = new FoldedNumber<MergedSeries>(this, 'count');
      this.#buckets.set(bound, bucket);
      this.#texts.set(bound, le);
      this.#bounds = undefined;
    }
    return bucket;
  }

  show(): string | undefined {
    for (const [bound, bucket] of this.#buckets) {
      bucket.endFold();
      if (!bucket.isEmpty) continue;
      this.#buckets.delete(bound);
      this.#texts.delete(bound);
      this.#bounds = undefined;
    }
    const sum = this.#sum.endFold();
    const total = this.#buckets.get(Infinity)?.value;
    // A process adds the sum of a histogram first, and the bucket of +Inf last.
    if (sum === undefined || total === undefined) {
      this.hide();
      return undefined;
    }
    this.#bounds ??= this.#sorted();
    const { schema, texts } = this.#bounds;
    const counts = new BigUint64Array(schema.length + 1);
    let last = 0;
    for (const [at, bound] of [...schema, Infinity].entries()) {
      const count = this.#buckets.get(bound)?.value ?? total;
      if (!isCount(count)) {
        this.hide();
        return `has the count ${count} in the bucket of ${bound}, allowed: integers from 0 on`;
      }
      // While a process counts an observation, the buckets that it has not reached yet may be lower.
      const own = this.#isCumulative ? Math.max(0, count - last) : count;
      counts[at] = BigInt(own);
      last = this.#isCumulative ? Math.max(count, last) : count;
    }
    this.showFrame({ type: 'histogram', counts, sum }, schema, texts);
    return undefined;
  }

  #sorted(): Bounds {
    const schema = [...this.#buckets.keys()].filter(Number.isFinite).sort((a, b) => a - b);
    return { schema, texts: schema.map((bound) => this.#texts.get(bound) ?? String(bound)) };
  }
}

const isCount = (value: number): boolean =>
  Number.isInteger(value) && value >= 0 && value < MAX_COUNT;

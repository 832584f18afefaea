// Histograms and summaries: copies of frames, and the cells computed from them.
import { Budget } from '../../budget.js';
import { convert, isDeclared } from '../../catalogue/row.js';
import type { BoundsOrQuantiles, Conversion, Row, Series } from '../../catalogue/row.js';
import { LargeMap } from '../../collections/large-map.js';
import type { Frame, Variable } from '../../model.js';
import { OPCODE } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { CELL_BYTES } from '../wasm/layout.js';
import { nodeText } from '../read/tree-walk.js';
import { OmittedItems } from '../target-limits.js';
import type { ViewContext } from '../view-context.js';

const MAX_COUNT = 2n ** 64n - 1n;

/** The cells of a histogram or summary: cumulative buckets or quantiles, then sum, then count. */
export class Distribution {
  readonly #kernel: Kernel;
  readonly #shape: BoundsOrQuantiles;
  readonly #conversion: Conversion;
  readonly #steps: number;
  readonly #at: number;

  /** @param conversion applied to the sum and to quantile values */
  constructor(kernel: Kernel, shape: BoundsOrQuantiles, conversion: Conversion) {
    this.#kernel = kernel;
    this.#shape = shape;
    this.#conversion = conversion;
    this.#steps = shape.type === 'histogram' ? shape.bounds.length + 1 : shape.quantiles.length;
    this.#at = kernel.arena.allocate((this.#steps + 2) * CELL_BYTES);
    kernel.bytes.fill(0, this.#at, this.#at + (this.#steps + 2) * CELL_BYTES);
    // Without observations, quantiles are NaN and buckets are zero.
    if (shape.type === 'summary') for (let i = 0; i < this.#steps; i++) this.#setNumber(i, NaN);
  }

  get series(): readonly Series[] {
    const shape = this.#shape;
    const value = (index: number, opcode: number) => ({ address: this.#cell(index), opcode });
    const steps: readonly Series[] =
      shape.type === 'histogram'
        ? [...shape.bounds, Infinity].map((bound, i) => ({
            suffix: '_bucket',
            labels: { le: shape.texts?.[i] ?? bound },
            value: value(i, OPCODE.u64),
          }))
        : shape.quantiles.map((quantile, i) => ({
            labels: { quantile },
            value: value(i, OPCODE.f64),
          }));
    return [
      ...steps,
      { suffix: '_sum', value: value(this.#steps, OPCODE.f64) },
      { suffix: '_count', value: value(this.#steps + 1, OPCODE.u64) },
    ];
  }

  /** Sets the cells from a frame of the same type; ignores other frames. */
  setFrame(frame: Frame): void {
    if (frame.type === 'histogram') this.setHistogram(frame.counts, frame.sum);
    else if (frame.type === 'summary') this.setSummary(frame.count, frame.sum, frame.values);
  }

  /** Sets the cells from the number of observations in each bucket alone, and from the sum before conversion. */
  setHistogram(counts: ArrayLike<bigint>, sum: number): void {
    let total = 0n;
    for (let i = 0; i < Math.max(this.#steps, counts.length); i++) {
      total += counts[i] ?? 0n;
      // An overflow would make cumulative buckets decrease, and parsers refuse such a page.
      if (total > MAX_COUNT) total = MAX_COUNT;
      // A bound that becomes infinite by conversion has no bucket of its own: the bucket +Inf includes its counts.
      if (i < this.#steps - 1) this.#set(i, total);
    }
    this.#set(this.#steps - 1, total);
    this.#setNumber(this.#steps, convert(sum, this.#conversion));
    this.#set(this.#steps + 1, total);
  }

  /** Sets the cells from the count, and from the sum and the values of the quantiles before conversion. */
  setSummary(count: bigint, sum: number, values: ArrayLike<number>): void {
    for (let i = 0; i < this.#steps; i++)
      this.#setNumber(i, convert(values[i] ?? NaN, this.#conversion));
    this.#setNumber(this.#steps, convert(sum, this.#conversion));
    this.#set(this.#steps + 1, count);
  }

  close(): void {
    this.#kernel.arena.free(this.#at, (this.#steps + 2) * CELL_BYTES);
  }

  #cell(index: number): number {
    return this.#at + index * CELL_BYTES;
  }

  #set(index: number, bits: bigint): void {
    const { u64, run } = this.#kernel;
    const cell = this.#cell(index);
    if (u64[cell >>> 3] === bits) return;
    u64[cell >>> 3] = bits;
    run.markDirty(cell);
  }

  #setNumber(index: number, value: number): void {
    this.#set(index, bitsOf(value));
  }
}

const double = new Float64Array(1);
const doubleBits = new BigUint64Array(double.buffer);

function bitsOf(value: number): bigint {
  double[0] = value;
  return doubleBits[0] ?? 0n;
}

/** The limits on copies of frames in one refresh. They keep other targets from waiting for long. */
const MAX_BYTES = 2 ** 30;
const MAX_RETRIES = 4096;
/** The number of copies of each frame that a refresh may make, on average. A consistent copy needs two. */
const COPIES = 4;
/** Copying this many bytes takes about as long as adding a line. */
const BYTES_A_STEP = 8192;

/**
 * A catalogue row, or a symbol that stands for the declared row of a variable: a declared row may be created again,
 * as another object.
 */
type RowKey = Row | typeof DECLARED;
const DECLARED = Symbol('declared');
const keyOf = (row: Row): RowKey => (isDeclared(row) ? DECLARED : row);

/** The last consistent copy of each frame, and the distributions that rows compute from it. */
export class FrameCopies {
  readonly #context: ViewContext;
  /** By the variable's id. */
  readonly #frames = new LargeMap<Frame>();
  readonly #distributions = new LargeMap<Map<RowKey, Distribution>>();
  /** By the variable's id. */
  readonly #omitted: OmittedItems;
  /** The budget of the current refresh. */
  #budget = new Budget({ bytes: 0 });

  constructor(context: ViewContext) {
    this.#context = context;
    this.#omitted = new OmittedItems(context.counters, 'omittedSeries');
  }

  /**
   * The number of values that are omitted now: because of a limit, or because their frames overlap, so that all
   * copies together would be larger than the source.
   */
  get omitted(): number {
    return this.#omitted.amount;
  }

  /** Starts a refresh with a new budget. */
  refresh(): void {
    const bytes = Math.min(MAX_BYTES, COPIES * this.#context.source.frameBytes);
    this.#budget = new Budget({ bytes, steps: MAX_RETRIES });
  }

  /** Copies the frame of a new variable. Returns whether its rows must be evaluated. */
  copy(variable: Variable): boolean {
    const budget = new Budget();
    const isNew = this.#copyWithin(variable, budget);
    this.#context.budget.spend(budget.bytes / BYTES_A_STEP);
    return isNew;
  }

  /**
   * Copies a frame again within the budget of the refresh. If the publisher keeps changing the frame, the last copy
   * is kept. If a limit omits the frame, the last copy is dropped. Returns whether the rows of the variable must be
   * evaluated.
   */
  copyAgain(variable: Variable): boolean {
    return this.#copyWithin(variable, this.#budget);
  }

  #copyWithin(variable: Variable, budget: Budget): boolean {
    const { source, counters, slotReader, usage, onOmitted } = this.#context;
    const frame = source.readFrame(variable, budget);
    if (frame === undefined) {
      counters.staleFrames++;
      slotReader.changes.reportAgain(variable);
      return false;
    }
    const growth = sizeOf(frame) - sizeOf(this.#frames.get(variable.id));
    const bytes = usage.frameBytes + growth;
    const limit = growth > 0 ? usage.reachedByText(growth) : undefined;
    if (limit !== undefined) onOmitted(limit, nodeText(variable));
    // The factor is 4 because a string counts twice its length, and because a publisher may reuse the memory of a
    // removed frame before the removal is seen here.
    if (limit !== undefined || bytes > 4 * source.frameBytes) return this.#omit(variable);
    usage.frameBytes = bytes;
    this.#frames.set(variable.id, frame);
    this.#omitted.deleteAll(variable.id);
    return true;
  }

  /** Drops the last copy, since the publisher's value has changed. Returns whether there was a copy. */
  #omit({ id }: Variable): boolean {
    this.#omitted.add(id, '');
    this.#context.usage.frameBytes -= sizeOf(this.#frames.get(id));
    return this.#frames.delete(id);
  }

  of(variable: Variable): Frame | undefined {
    return this.#frames.get(variable.id);
  }

  /** The distribution of a row and variable, if it exists. */
  distributionOf(variable: Variable, row: Row): Distribution | undefined {
    return this.#distributions.get(variable.id)?.get(keyOf(row));
  }

  setDistribution(variable: Variable, row: Row, distribution: Distribution): void {
    const all = this.#distributions.get(variable.id);
    const key = keyOf(row);
    if (all === undefined) this.#distributions.set(variable.id, new Map([[key, distribution]]));
    else all.set(key, distribution);
  }

  delete({ id }: Pick<Variable, 'id'>): void {
    this.#context.usage.frameBytes -= sizeOf(this.#frames.get(id));
    this.#frames.delete(id);
    this.#omitted.deleteAll(id);
    for (const each of this.#distributions.get(id)?.values() ?? []) each.close();
    this.#distributions.delete(id);
  }

  *closing(): Generator<void, void> {
    for (const id of this.#distributions.keys()) {
      this.delete({ id });
      yield;
    }
    this.#frames.clear();
  }
}

/** The bytes of memory that a frame's content takes. A string may take two bytes for each character. */
function sizeOf(frame: Frame | undefined): number {
  if (frame === undefined) return 0;
  if (frame.type === 'string') return 2 * frame.text.length;
  return (frame.type === 'histogram' ? frame.counts : frame.values).byteLength;
}

// The text of one target: its families with their lines, and the render of the current values.
import type { FamilyMetadata, LineForm, Piece, Snapshot } from '../../model.js';
import { bytesOf } from '../../bytes.js';
import { DeflateContext, usesKernelDeflate } from '../compress/deflate-context.js';
import { Cost } from '../../budget.js';
import type { Kernel } from '../wasm/kernel.js';
import { labelsOf, seriesHash } from './line.js';
import type { Line, LineKey } from './line.js';
import { Scratch, hashOf } from '../wasm/memory.js';
import type { RenderOptions, RenderTask } from './block.js';
import { Chunks, isTooLarge } from './chunks.js';
import { Family } from './family.js';
import type { TextSize } from './family.js';
import { OpenMetricsViolations } from './open-metrics-violations.js';
import type { RenderBuffer } from './render-buffer.js';
import { TextSnapshot } from './text-snapshot.js';

/** This many characters of a line cost as much as a short line. */
const CHARACTERS_A_STEP = 128;

/** Writing this much text takes 0.1 to 0.2 ms. */
const BYTES_A_STEP = 262_144;

/** Checking this many chunks for changes takes 0.1 to 0.2 ms. */
const CHUNKS_A_STEP = 16;

interface OrderedFamily {
  readonly familyIndex: number;
  readonly family: Family;
}

export class ExpositionText {
  readonly #kernel: Kernel;
  readonly #usesKernelDeflate: typeof usesKernelDeflate;
  readonly #families = new Map<string, OrderedFamily>();
  /** The families, in the order of a page. */
  readonly #order: OrderedFamily[] = [];
  readonly #chunks: Chunks;
  readonly #violations = new OpenMetricsViolations();
  readonly #size: TextSize = { lines: 0, blocks: 0, textBytes: 0 };
  #context: DeflateContext | undefined;
  readonly #scratch: Scratch;
  readonly #cost: Cost;

  /**
   * @param cost counts lines that are put, removed or moved; a long line counts as several
   * @param usesKernel decides whether the kernel compresses lines
   */
  constructor(kernel: Kernel, cost = new Cost(), usesKernel = usesKernelDeflate) {
    this.#cost = cost;
    this.#kernel = kernel;
    this.#chunks = new Chunks(kernel);
    this.#usesKernelDeflate = usesKernel;
    this.#scratch = new Scratch(kernel);
  }

  /** Number of lines, one per series. */
  get lines(): number {
    return this.#size.lines;
  }

  /** Bytes of all names and labels. */
  get textBytes(): number {
    return this.#size.textBytes;
  }

  get families(): number {
    return this.#order.length;
  }

  /** The family of that name; undefined if it has no lines. */
  family(name: string): Family | undefined {
    return this.#families.get(name)?.family;
  }

  /** Adds or replaces a line. Families are sorted by `familyIndex`, then by name. */
  put(
    metadata: FamilyMetadata,
    familyIndex: number,
    key: LineKey,
    line: Line,
    hash = this.seriesHash(metadata.name, line),
  ): void {
    let ordered = this.#families.get(metadata.name);
    if (ordered === undefined) {
      ordered = {
        familyIndex,
        family: new Family(this.#kernel, metadata, this.#size, this.#cost),
      };
      this.#families.set(metadata.name, ordered);
      this.#order.splice(this.#indexOf(ordered), 0, ordered);
    }
    this.#cost.steps += costOf(line);
    const { blocks } = this.#size;
    ordered.family.put(key, line, hash);
    this.#violations.put(ordered.family, line);
    if (this.#size.blocks !== blocks) this.#chunks.invalidate();
  }

  remove(name: string, key: LineKey): void {
    const ordered = this.#families.get(name);
    if (ordered === undefined) return;
    const { family } = ordered;
    const { blocks } = this.#size;
    this.#cost.steps++;
    family.remove(key);
    if (this.#size.blocks !== blocks) this.#chunks.invalidate();
    if (family.lines > 0) return;
    this.#violations.delete(family);
    const steps = family.closing();
    while (steps.next().done !== true);
    this.#families.delete(name);
    this.#order.splice(this.#indexOf(ordered), 1);
  }

  /** The hash of the name and the labels of a line. */
  seriesHash(family: string, line: Line): number {
    const { suffix } = line;
    const name = this.family(family)?.nameHash(suffix) ?? hashOf(family + suffix);
    return seriesHash(name, line);
  }

  /** The `seriesHash` of the line with that key; undefined if there is none. */
  hash(name: string, key: LineKey): number | undefined {
    return this.family(name)?.hash(key);
  }

  /**
   * Renders changed lines, a few blocks per step, and returns a snapshot of the current text. If the render fails or
   * is not finished, the next render writes the same lines again.
   * @param forms the forms to write; if the kernel does not compress the lines, it writes them as text
   */
  *rendering(forms: Iterable<LineForm> = ['text']): Generator<void, Snapshot> {
    const wanted = new Set(forms);
    const usesKernel = wanted.has('deflated') && this.#usesKernelDeflate(this.#size);
    const context = usesKernel ? yield* this.#updatedContext() : undefined;
    const hasText = wanted.has('text') || context === undefined;
    const options: RenderOptions = { hasText, context };
    yield* this.#chunks.dividing(this.#inOrder());
    yield* this.#violations.searching(context !== undefined);
    yield* this.#writingDirty(options);
    const text: Piece[] = [];
    const deflated: Piece[] = [];
    const buffers: RenderBuffer[] = [];
    let collected = 0;
    for (const chunk of this.#chunks.all) {
      const output = chunk.rendered(options);
      text.push(...output.text);
      deflated.push(...output.deflated);
      buffers.push(...output.buffers);
      if (isTooLarge(chunk)) this.#chunks.invalidate();
      if (++collected % CHUNKS_A_STEP === 0) yield;
    }
    context?.rendered(bytesOf(deflated.map(({ data }) => data)));
    const lines = new Map<LineForm, readonly Piece[]>();
    if (hasText) lines.set('text', text);
    if (context !== undefined) lines.set('deflated', deflated);
    const { metadata } = this.#chunks;
    const violatesOpenMetrics = this.#violations.wereFound;
    return new TextSnapshot({ metadata, violatesOpenMetrics, lines, buffers });
  }

  *#writingDirty(options: RenderOptions): Generator<void, void> {
    const dirty: RenderTask[] = [];
    let checked = 0;
    for (const chunk of this.#chunks.all) {
      chunk.collectDirty(options, dirty);
      if (++checked % CHUNKS_A_STEP === 0) yield;
    }
    let bytes = 0;
    for (const task of dirty) {
      task.write(options, this.#scratch);
      bytes += task.bytes;
      if (bytes < BYTES_A_STEP) continue;
      bytes = 0;
      yield;
    }
  }

  /** Frees everything, one block per step. */
  *closing(): Generator<void, void> {
    this.#scratch.close();
    yield* this.#chunks.closing();
    for (const { family } of this.#order) {
      this.#families.delete(family.metadata.name);
      this.#violations.delete(family);
      yield* family.closing();
    }
    this.#context?.close();
    this.#context = undefined;
    this.#order.length = 0;
    Object.assign(this.#size, { lines: 0, blocks: 0, textBytes: 0 });
  }

  *#inOrder(): Generator<Family, void> {
    for (const { family } of this.#order) yield family;
  }

  /** The index of a family in the order of a page, or the index where it belongs. */
  #indexOf(ordered: OrderedFamily): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#order[middle];
      if (other !== undefined && comesBefore(other, ordered)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The deflate context, after an update of its code. */
  *#updatedContext(): Generator<void, DeflateContext> {
    const context = (this.#context ??= new DeflateContext(this.#kernel));
    const families = this.#order;
    yield* context.updatingCode(this.#size.lines, function* (counts, every) {
      let skipped = every - 1;
      for (const { family } of families)
        skipped = yield* family.countingSymbols(context, counts, every, skipped);
    });
    return context;
  }
}

const comesBefore = (a: OrderedFamily, b: OrderedFamily): boolean =>
  a.familyIndex < b.familyIndex ||
  (a.familyIndex === b.familyIndex && a.family.metadata.name < b.family.metadata.name);

/** The work of adding or removing a line: 1, or more for a long line. */
export const costOf = (line: Line): number =>
  typeof line.labels === 'string' ? 1 + labelsOf(line).length / CHARACTERS_A_STEP : 1;

// The text of one target: its families with their lines, and the render of the current values.
import { DEFAULT_FORM } from '../../model.js';
import type { FamilyMetadata, FamilySize, LineForm, Piece, Snapshot } from '../../model.js';
import { bytesOf } from '../../bytes.js';
import { DeflateContext, usesKernelDeflate } from '../compress/deflated-lines.js';
import { Budget } from '../../budget.js';
import { ProtobufLines } from '../protobuf/protobuf-lines.js';
import type { StartOf } from '../protobuf/protobuf-lines.js';
import type { Kernel } from '../wasm/kernel.js';
import { labelsOf, seriesHash } from './line.js';
import type { Line, LineKey } from './line.js';
import { hashOf } from '../wasm/memory.js';
import { BYTES_A_BLOCK } from './block.js';
import type { Block } from './block.js';
import { BYTES_A_STEP, Chunks } from './chunks.js';
import { CreatedLines } from './created-lines.js';
import { Family } from './family.js';
import type { LinePosition, TextSize } from './family.js';
import { holdOf } from './render-buffer.js';
import type { RenderBuffer } from './render-buffer.js';

/** This many characters of a line cost as much as a short line. */
const CHARACTERS_A_STEP = 128;
/** Renders keep writing a form until this many successive demands ask only for other forms. */
const KEPT_DEMANDS = 16;

/** The number of families that `largestFamilies` lists. */
const MAX_LARGEST = 10;

export class ExpositionText {
  readonly #kernel: Kernel;
  readonly #usesKernelDeflate: typeof usesKernelDeflate;
  readonly #families = new Map<string, Family>();
  /** The families, in the order of a page. */
  readonly #order: Family[] = [];
  /** The metadata of all families, in the order of a page; undefined after families were added or removed. */
  #metadata: readonly FamilyMetadata[] | undefined;
  readonly #chunks: Chunks;
  readonly #messages: ProtobufLines;
  readonly #created: CreatedLines;
  readonly #size: TextSize = { lines: 0, blocks: 0, textBytes: 0 };
  /** For each form to write, the number of demands for other forms after which it ends. */
  readonly #forms = new Map<LineForm, number>();
  /** The forms for which the last render was made. */
  #rendered: ReadonlySet<LineForm> = new Set();
  #context: DeflateContext | undefined;
  readonly #budget: Budget;

  /**
   * @param budget pays for lines that are put, removed or moved; a long line is several steps
   * @param usesKernel decides whether the kernel compresses lines
   */
  constructor(kernel: Kernel, budget = new Budget(), usesKernel = usesKernelDeflate) {
    this.#budget = budget;
    this.#kernel = kernel;
    this.#chunks = new Chunks(kernel);
    this.#messages = new ProtobufLines(kernel);
    this.#created = new CreatedLines(kernel);
    this.#usesKernelDeflate = usesKernel;
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

  /** The families with the most lines, the largest first. */
  get largestFamilies(): readonly FamilySize[] {
    return largestOf(this.#order);
  }

  /** The family of that name; undefined if it has no lines. */
  family(name: string): Family | undefined {
    return this.#families.get(name);
  }

  /**
   * Adds or replaces a line. Families are sorted by `familyIndex`, then by name.
   * @param position the result of `Family.find`, if no line has been added or removed since
   */
  put(
    metadata: FamilyMetadata,
    familyIndex: number,
    key: LineKey,
    line: Line,
    hash = this.seriesHash(metadata.name, line),
    position?: LinePosition,
  ): void {
    let family = this.#families.get(metadata.name);
    if (family === undefined) {
      family = new Family(this.#kernel, metadata, familyIndex, this.#size, this.#budget);
      this.#families.set(metadata.name, family);
      this.#order.splice(this.#indexOf(family), 0, family);
      this.#metadata = undefined;
    }
    this.#budget.spend(costOf(line));
    const { blocks } = this.#size;
    family.put(key, line, hash, position);
    if (this.#size.blocks !== blocks) this.#chunks.invalidate();
  }

  remove(name: string, key: LineKey): void {
    const family = this.#families.get(name);
    if (family === undefined) return;
    const { blocks } = this.#size;
    this.#budget.spend(1);
    family.remove(key);
    if (this.#size.blocks !== blocks) this.#chunks.invalidate();
    if (family.lines > 0) return;
    const steps = family.closing();
    while (steps.next().done !== true);
    this.#families.delete(name);
    this.#order.splice(this.#indexOf(family), 1);
    this.#metadata = undefined;
  }

  /** The hash of the name and the labels of a line. */
  seriesHash(family: string, line: Line): number {
    const { suffix } = line;
    const name = this.family(family)?.nameHash(suffix) ?? hashOf(family + suffix);
    return seriesHash(name, line);
  }

  /** The `seriesHash` of the line with that key; undefined if there is none. */
  hash(name: string, key: LineKey): number | undefined {
    const family = this.family(name);
    return family?.hashAt(family.find(key));
  }

  /**
   * Renders changed lines, a few blocks per step, and returns a snapshot of the current text. If the render fails or
   * is not finished, the next render writes the same lines again.
   * @param forms the forms that the snapshot is for: see `formsToWrite`
   * @param startOf the start times that the converted forms state
   */
  *rendering(
    forms: Iterable<LineForm> = this.#forms.keys(),
    startOf: StartOf = () => undefined,
  ): Generator<void, Snapshot> {
    const rendered = new Set(forms);
    if (rendered.size === 0) rendered.add(DEFAULT_FORM);
    this.#rendered = rendered;
    const written = formsToWrite(rendered, this.#usesKernelDeflate(this.#size));
    const violatesOpenMetrics = yield* this.#searchingViolation();
    const lines = new Map<LineForm, readonly Piece[]>();
    const buffers: RenderBuffer[] = [];
    // Messages first: their conversion calls `Block.write`, after which a chunk must write the text of the block again.
    if (written.has('protobuf')) {
      const deflates = written.has('deflated-protobuf');
      const { messages, deflated } = yield* this.#messages.rendering(
        ...([this.#order, startOf, buffers, deflates] as const),
      );
      lines.set('protobuf', messages);
      if (deflated !== undefined) lines.set('deflated-protobuf', deflated);
    } else this.#messages.close();
    if (written.has('text')) lines.set('text', yield* this.#chunks.rendering(this.#order, buffers));
    else this.#chunks.close();
    const text = lines.get('text');
    if (written.has('created') && text !== undefined)
      lines.set('created', yield* this.#created.rendering(this.#order, text, startOf, buffers));
    else this.#created.close();
    if (written.has('deflated')) lines.set('deflated', yield* this.#deflating(buffers));
    else yield* this.#droppingDeflated();
    const metadata = (this.#metadata ??= this.#order.map((family) => family.metadata));
    const hold = holdOf(buffers);
    return { metadata, violatesOpenMetrics, lines: (form) => lines.get(form), hold };
  }

  /** Makes renders write these forms, until `KEPT_DEMANDS` later calls demand only other forms. */
  demand(forms: readonly LineForm[]): void {
    if (forms.length === 0) return;
    for (const [form, calls] of this.#forms)
      if (calls > 1) this.#forms.set(form, calls - 1);
      else this.#forms.delete(form);
    for (const form of forms) this.#forms.set(form, KEPT_DEMANDS);
  }

  /** Whether the last render lacks a form that is demanded now. */
  get lacksForm(): boolean {
    return [...this.#forms.keys()].some((form) => !this.#rendered.has(form));
  }

  /** Writes changed deflate blocks in small steps. Returns them, and adds their buffers to `buffers`. */
  *#deflating(buffers: RenderBuffer[]): Generator<void, readonly Piece[]> {
    const context = (this.#context ??= new DeflateContext(this.#kernel));
    yield* context.updatingCode(this.#size.lines, this.#blocks());
    const pieces: Piece[] = [];
    let written = 0;
    for (const family of this.#order)
      for (const block of family.blocks) {
        const { deflated, count } = block;
        const isCurrent = deflated.isCurrent(context);
        const { buffer, data, bytes, crc } = deflated.current(context);
        pieces.push({ family: family.metadata, lines: count, data, bytes, crc });
        buffers.push(buffer);
        written += isCurrent ? BYTES_A_BLOCK : block.bytes;
        if (written < BYTES_A_STEP) continue;
        written = 0;
        yield;
      }
    context.rendered(bytesOf(pieces.map(({ data }) => data)));
    return pieces;
  }

  /** Frees all deflate blocks and what only they need, one block per step. */
  *#droppingDeflated(): Generator<void, void> {
    if (this.#context === undefined) return;
    for (const { deflated } of this.#blocks()) {
      deflated.drop();
      yield;
    }
    this.#context.close();
    this.#context = undefined;
  }

  /** Whether any family violates OpenMetrics. Searches in small steps. */
  *#searchingViolation(): Generator<void, boolean> {
    let bytes = 0;
    for (const family of this.#order) {
      if (family.hasNegativeBound) return true;
      if (!family.mayViolate) continue;
      for (const block of family.blocks) {
        if (family.violatesOpenMetrics(block)) return true;
        bytes += block.bytes;
        if (bytes < BYTES_A_STEP) continue;
        bytes = 0;
        yield;
      }
    }
    return false;
  }

  /** Frees everything, one block per step. */
  *closing(): Generator<void, void> {
    this.#chunks.close();
    for (const family of this.#order) {
      this.#families.delete(family.metadata.name);
      yield* family.closing();
    }
    this.#messages.close();
    this.#created.close();
    this.#context?.close();
    this.#context = undefined;
    this.#order.length = 0;
    this.#metadata = undefined;
    Object.assign(this.#size, { lines: 0, blocks: 0, textBytes: 0 });
  }

  /** The index of a family in the order of a page, or the index where it belongs. */
  #indexOf(family: Family): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#order[middle];
      if (other !== undefined && comesBefore(other, family)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** All blocks, in the order of a page. */
  *#blocks(): Generator<Block, void> {
    for (const { blocks } of this.#order) yield* blocks;
  }
}

/**
 * The forms to write for a snapshot in these forms. If the kernel does not compress the lines, zlib compresses their
 * text or messages later. Deflated messages and `created` lines are made from messages and text.
 */
function formsToWrite(forms: Iterable<LineForm>, usesKernel: boolean): ReadonlySet<LineForm> {
  const written = new Set(forms);
  if (written.has('created')) written.add('text');
  if (written.has('deflated-protobuf')) written.add('protobuf');
  if (usesKernel) return written;
  if (written.delete('deflated')) written.add('text');
  written.delete('deflated-protobuf');
  return written;
}

/** Returns the largest families. Of equally large ones, the first on a page come first, so the list is stable. */
function largestOf(families: readonly Family[]): readonly FamilySize[] {
  const largest: Family[] = [];
  for (const family of families) {
    const isFull = largest.length === MAX_LARGEST;
    if (isFull && (largest.at(-1)?.lines ?? 0) >= family.lines) continue;
    const smaller = largest.findIndex(({ lines }) => lines < family.lines);
    largest.splice(smaller < 0 ? largest.length : smaller, 0, family);
    if (isFull) largest.pop();
  }
  return largest.map(({ metadata: { name }, lines }) => ({ name, series: lines }));
}

const comesBefore = (a: Family, b: Family): boolean =>
  a.index < b.index || (a.index === b.index && a.metadata.name < b.metadata.name);

/** The work of adding or removing a line: 1, or more for a long line. */
export const costOf = (line: Line): number =>
  typeof line.labels === 'string' ? 1 + labelsOf(line).length / CHARACTERS_A_STEP : 1;

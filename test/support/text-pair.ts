// An exposition text, and a naive renderer of the same lines. The naive renderer has no blocks, no memory
// limit and no state from earlier renders.
import { crc32, inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { crcTables } from '#app/exposition/compress/crc.js';
import { joined } from '#app/exposition/compress/gzip.js';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';
import { labelsOf } from '#app/exposition/text/line.js';
import { StoredText } from '#app/exposition/wasm/memory.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import { floatText } from '#app/exposition/text/text-syntax.js';
import type { FamilyMetadata, LineForm, MetricType, Piece, Snapshot } from '#app/model.js';
import { decodedGauges, gaugesOfText } from './protobuf-page.js';
import { runToEnd } from '#app/run-to-end.js';
import { Cells, cellLine, fixedLine } from './lines.js';
import { familiesOf, linesOf } from './snapshot-of.js';
import { unpacked } from './unpacked.js';

export const VALUES = 50;
/** WebAssembly pages per kernel: enough for any test, but bounded, since many kernels exist at once. */
const MAX_PAGES = 4096;
export const metadata = (name: string, type: MetricType = 'gauge'): FamilyMetadata => ({
  name,
  type,
  unit: '',
  help: `About ${name}.`,
});

/** Families, not in the order of a page: a page sorts them by family index, then by name. */
export const FAMILIES: readonly (readonly [name: string, familyIndex: number])[] = [
  ['shop_b', 1],
  ['shop_a', 1],
  ['shop_z', 0],
];

/** More families than fit into a chunk. */
export const HUNDREDS = Array.from(
  { length: 300 },
  (_, index) => [`shop_${(index * 7) % 300}`, index % 3] as const,
);

/** Suffixes of the metric name, as in the lines of histograms. */
const SUFFIXES = ['', '', '', '_sum', '_count'];

/** Labels that resemble the labels of the previous line, and labels that do not. */
export const LABELS: readonly ((nodeId: number, seriesIndex: number) => string)[] = [
  (nodeId) => `{nodeId="${nodeId}",text="${'é'.repeat(nodeId % 7)}"}`,
  (nodeId, seriesIndex) =>
    `{nodeId="server${nodeId}.example.com",client="c_${seriesIndex}",service="S${nodeId % 3}"}`,
  (nodeId, seriesIndex) => `{nodeId="a \\"quoted\\" ${nodeId}",seriesIndex="${seriesIndex}"}`,
  (nodeId) => `{nodeId="${nodeId}",long="${'abcdefghij'.repeat(30 + (nodeId % 40))}"}`,
  (nodeId, seriesIndex) => `{o="${nodeId.toString(2)}",le="${seriesIndex / 4}",x=""}`,
];

interface NaiveLine {
  readonly nodeId: number;
  readonly seriesIndex: number;
  readonly text: string;
  readonly value: number | undefined;
}

/** The forms of a render. */
export const FORMS = {
  text: ['text'],
  deflated: ['deflated'],
  both: ['text', 'deflated'],
  protobuf: ['protobuf', 'deflated'],
  deflatedProtobuf: ['deflated-protobuf', 'text'],
} as const satisfies Record<string, readonly LineForm[]>;

/** An empty last block. */
const END_OF_STREAM = Buffer.of(3, 0);

/** Lets the kernel compress lines, whatever their number. */
const ALWAYS = () => true;

function expectMessages(snapshot: Snapshot, text: string): void {
  const messages = snapshot.lines('protobuf') ?? [];
  expect(messages.flatMap(({ data }) => decodedGauges(data))).to.deep.equal(gaugesOfText(text));
  snapshot.lines('deflated-protobuf')?.forEach((piece, index) => {
    const { buffers, crc, bytes } = joined([{ ...piece, crc: piece.crc ?? NaN }]);
    const inflated = inflateRawSync(Buffer.concat([...buffers, END_OF_STREAM]));
    expect(inflated.equals(messages[index]?.data ?? Buffer.of())).to.equal(true);
    expect({ crc, bytes }).to.deep.equal({ crc: crc32(inflated), bytes: inflated.length });
  });
}

/** An exposition text, and a naive model of its content. */
export class TextPair {
  readonly kernel: Kernel;
  readonly values: Cells;
  /** Label texts in the kernel's memory, by their content. Many lines share one text. */
  readonly shared = new Map<string, StoredText>();
  readonly before: number;
  readonly text: ExpositionText;
  readonly naive = new Map<string, Map<string, NaiveLine>>();
  readonly held: { snapshot: Snapshot; text: string; release: () => void }[] = [];

  readonly labels: typeof LABELS;
  readonly families: typeof FAMILIES;
  /** The text that each piece had in its first snapshot. */
  readonly #firstTexts = new WeakMap<Piece, string>();

  constructor(labels = LABELS, families = FAMILIES) {
    this.labels = labels;
    this.families = families;
    this.kernel = new Kernel(MAX_PAGES);
    this.values = new Cells(this.kernel, VALUES);
    // Install the CRC tables before `before` is measured: they stay allocated as long as the kernel exists.
    this.kernel.installCrcTables(crcTables());
    this.before = this.kernel.arena.used;
    this.text = new ExpositionText(this.kernel, undefined, ALWAYS);
  }

  /** Compares the largest families with a sorted list of all families. */
  checkLargestFamilies(): void {
    const sizes = this.families.map(([name, familyIndex]) => {
      return { name, familyIndex, series: this.naive.get(name)?.size ?? 0 };
    });
    const largest = sizes
      .filter(({ series }) => series > 0)
      .sort(
        (a, b) =>
          b.series - a.series || a.familyIndex - b.familyIndex || (a.name < b.name ? -1 : 1),
      )
      .slice(0, 10);
    expect(this.text.largestFamilies).to.deep.equal(
      largest.map(({ name, series }) => ({ name, series })),
    );
  }

  set(index: number, value: number): void {
    this.values.set(index, value);
  }

  put(family: number, nodeId: number, seriesIndex: number, value: number | undefined): void {
    const [name, familyIndex] = this.families[family % this.families.length] ?? ['x', 0];
    const labels = this.labels[(nodeId + family) % this.labels.length]?.(nodeId, seriesIndex) ?? '';
    const suffix = SUFFIXES[(nodeId + seriesIndex) % SUFFIXES.length] ?? '';
    const text = `${name}${suffix}${labels} ${value === undefined ? `${seriesIndex}\n` : ''}`;
    const own = labels.slice(1, -1);
    const line =
      value === undefined
        ? fixedLine(own, seriesIndex, suffix)
        : cellLine(own, this.values.of(value), OPCODE.f64, suffix);
    // For every other node, lines with equal labels share one stored text.
    const isShared = nodeId % 2 === 0;
    const all = isShared ? { ...line, labels: this.sharedText(labelsOf(line)) } : line;
    this.text.put(metadata(name), familyIndex, { nodeId, seriesIndex }, all);
    const lines = this.naive.get(name) ?? new Map<string, NaiveLine>();
    lines.set(`${nodeId} ${seriesIndex}`, { nodeId, seriesIndex, text, value });
    this.naive.set(name, lines);
  }

  sharedText(text: string): StoredText {
    const known = this.shared.get(text) ?? new StoredText(this.kernel.texts, text);
    this.shared.set(text, known);
    return known;
  }

  remove(family: number, nodeId: number, seriesIndex: number): void {
    const [name] = this.families[family % this.families.length] ?? ['x'];
    this.text.remove(name, { nodeId, seriesIndex });
    this.naive.get(name)?.delete(`${nodeId} ${seriesIndex}`);
  }

  get expected(): string {
    return this.#lines()
      .map(([, lines]) => lines)
      .join('');
  }

  /** The lines of each family. */
  #lines(): readonly (readonly [name: string, lines: string])[] {
    const valueText = (index: number) => floatText(this.values.number(index));
    return this.families
      .toSorted(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
      .map(([name]) => [
        name,
        [...(this.naive.get(name)?.values() ?? [])]
          .toSorted((a, b) => a.nodeId - b.nodeId || a.seriesIndex - b.seriesIndex)
          .map(({ text, value }) => (value === undefined ? text : `${text}${valueText(value)}\n`))
          .join(''),
      ]);
  }

  /** Renders and compares. If `isHeld`, also holds the snapshot, which `close()` compares again. */
  render(isHeld = false, forms: readonly LineForm[] = FORMS.text): Snapshot {
    const snapshot = runToEnd(this.text.rendering(forms));
    const { expected } = this;
    const pieces = snapshot.lines('text') ?? snapshot.lines('deflated') ?? [];
    const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
    expect(sum(pieces.map(({ bytes }) => bytes))).to.equal(Buffer.byteLength(expected));
    expect(sum(pieces.map(({ lines }) => lines))).to.equal(expected.split('\n').length - 1);
    if (isHeld) {
      this.held.push({ snapshot, text: expected, release: snapshot.hold() });
      return snapshot;
    }
    if (forms.includes('deflated')) {
      if (unpacked(snapshot) !== expected) expect(unpacked(snapshot)).to.equal(expected);
    }
    const has = (form: LineForm) => snapshot.lines(form) !== undefined;
    expect(has('text')).to.equal(forms.includes('text'));
    expect(has('deflated-protobuf')).to.equal(forms.includes('deflated-protobuf'));
    if (has('protobuf')) expectMessages(snapshot, expected);
    expect(has('protobuf')).to.equal(forms.some((form) => form.endsWith('protobuf')));
    if (linesOf(snapshot) !== expected) expect(linesOf(snapshot)).to.equal(expected);
    const shown = familiesOf(snapshot).map(({ metadata: each, text }) => [each.name, text]);
    expect(shown).to.deep.equal(this.#lines().filter(([, lines]) => lines !== ''));
    expect(snapshot.metadata.map(({ name }) => name)).to.deep.equal(shown.map(([name]) => name));
    this.#expectSame(snapshot.lines('text') ?? []);
    return snapshot;
  }

  /** Renders with memory for only `memory` allocations; the next one fails. */
  renderWithout(memory: number, forms: readonly LineForm[]): void {
    const { arena } = this.kernel;
    const allocate = arena.allocate.bind(arena);
    let left = memory;
    arena.allocate = (bytes) => {
      if (left-- === 0) throw new Error('no memory');
      return allocate(bytes);
    };
    try {
      runToEnd(this.text.rendering(forms));
    } catch (error) {
      expect(error).to.have.property('message', 'no memory');
    } finally {
      arena.allocate = allocate;
    }
  }

  /** Runs the first steps of a render. */
  renderPartly(steps: number, forms: readonly LineForm[]): void {
    const rendering = this.text.rendering(forms);
    for (let i = 0; i < steps; i++) if (rendering.next().done === true) return;
  }

  /** Checks that a piece has the same text in every snapshot that has it. */
  #expectSame(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      const text = Buffer.from(piece.data).toString();
      const before = this.#firstTexts.get(piece) ?? text;
      if (before !== text) expect(text).to.equal(before);
      this.#firstTexts.set(piece, text);
    }
  }

  /** Closes the text, and checks that held snapshots are unchanged. */
  close(): void {
    runToEnd(this.text.closing());
    for (const text of this.shared.values()) text.close();
    for (const { snapshot, text, release } of this.held) {
      expect(linesOf(snapshot) === text).to.equal(true);
      if (snapshot.lines('deflated') !== undefined)
        expect(unpacked(snapshot) === text).to.equal(true);
      if (snapshot.lines('protobuf') !== undefined) expectMessages(snapshot, text);
      release();
      release();
    }
    expect(this.kernel.arena.used).to.equal(this.before);
  }
}

// An exposition text, and beside it what it should say: a renderer that knows no blocks, no memory and no last time.
import { expect } from 'chai';
import { crcTables } from '#app/exposition/compress/crc.js';
import { Kernel, OP } from '#app/exposition/wasm/kernel.js';
import { labelsOf } from '#app/exposition/wasm/line-table.js';
import { SharedText } from '#app/exposition/wasm/memory.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import { floatText, headerText } from '#app/exposition/text/text-syntax.js';
import type {
  FamilyFacts,
  FamilyText,
  Forms,
  HeadedText,
  MetricType,
  Snapshot,
} from '#app/model.js';
import { finished } from './finished.js';
import { Cells, cellLine, fixedLine } from './lines.js';
import { unpacked } from './unpacked.js';

export const VALUES = 50;
/** Enough for all that a test makes; many kernels are alive at once. */
const MAX_PAGES = 4096;
export const facts = (name: string, type: MetricType = 'gauge'): FamilyFacts => ({
  name,
  type,
  unit: '',
  help: `About ${name}.`,
});

/** Names in no order, with the ranks that they stand by: equal ranks go by name. */
export const FAMILIES: readonly (readonly [name: string, rank: number])[] = [
  ['shop_b', 1],
  ['shop_a', 1],
  ['shop_z', 0],
];

/** More than share a chunk. */
export const HUNDREDS = Array.from(
  { length: 300 },
  (_, index) => [`shop_${(index * 7) % 300}`, index % 3] as const,
);

/** What lines of histograms have behind the name of their family. */
const SUFFIXES = ['', '', '', '_sum', '_count'];

/** Labels of all kinds, alike and unlike those of the line before. */
export const LABELS: readonly ((owner: number, sub: number) => string)[] = [
  (owner) => `{owner="${owner}",text="${'é'.repeat(owner % 7)}"}`,
  (owner, sub) => `{owner="server${owner}.example.com",client="c_${sub}",service="S${owner % 3}"}`,
  (owner, sub) => `{owner="a \\"quoted\\" ${owner}",sub="${sub}"}`,
  (owner) => `{owner="${owner}",long="${'abcdefghij'.repeat(30 + (owner % 40))}"}`,
  (owner, sub) => `{o="${owner.toString(2)}",le="${sub / 4}",x=""}`,
];

interface NaiveLine {
  readonly owner: number;
  readonly sub: number;
  readonly text: string;
  readonly value: number | undefined;
}

export const FORMS = {
  text: { text: true, deflated: false },
  deflated: { text: false, deflated: true },
  both: { text: true, deflated: true },
};

/** A stream of any lines, however much larger it is than zlib makes it. */
const ALWAYS = () => true;

/** An exposition text, and beside it what it should say. */
export class TextPair {
  readonly kernel: Kernel;
  readonly values: Cells;
  /** Labels that many lines share. */
  readonly shared = new Map<string, SharedText>();
  readonly before: number;
  readonly text: ExpositionText;
  readonly naive = new Map<string, Map<string, NaiveLine>>();
  readonly held: { snapshot: Snapshot; text: string; release: () => void }[] = [];

  readonly labels: typeof LABELS;
  readonly families: typeof FAMILIES;
  /** What families said when they were shown first. */
  readonly #said = new WeakMap<FamilyText, string>();

  constructor(labels = LABELS, families = FAMILIES) {
    this.labels = labels;
    this.families = families;
    this.kernel = new Kernel({ maxPages: MAX_PAGES });
    this.values = new Cells(this.kernel, VALUES);
    // The tables of the CRC stay with the kernel.
    this.kernel.installCrcTables(crcTables());
    this.before = this.kernel.arena.used;
    this.text = new ExpositionText(this.kernel, undefined, ALWAYS);
  }

  set(index: number, value: number): void {
    this.values.set(index, value);
  }

  put(family: number, owner: number, sub: number, value: number | undefined): void {
    const [name, rank] = this.families[family % this.families.length] ?? ['x', 0];
    const labels = this.labels[(owner + family) % this.labels.length]?.(owner, sub) ?? '';
    const suffix = SUFFIXES[(owner + sub) % SUFFIXES.length] ?? '';
    const text = `${name}${suffix}${labels} ${value === undefined ? `${sub}\n` : ''}`;
    const own = labels.slice(1, -1);
    const line =
      value === undefined
        ? fixedLine(own, sub, suffix)
        : cellLine(own, this.values.of(value), OP.f64, suffix);
    // Every other line shares its labels with those that have the same.
    const isShared = owner % 2 === 0;
    const all = isShared ? { ...line, labels: this.sharedText(labelsOf(line)) } : line;
    this.text.put(facts(name), rank, { owner, sub }, all);
    const lines = this.naive.get(name) ?? new Map<string, NaiveLine>();
    lines.set(`${owner} ${sub}`, { owner, sub, text, value });
    this.naive.set(name, lines);
  }

  sharedText(text: string): SharedText {
    const known = this.shared.get(text) ?? new SharedText(this.kernel.texts, text);
    this.shared.set(text, known);
    return known;
  }

  remove(family: number, owner: number, sub: number): void {
    const [name] = this.families[family % this.families.length] ?? ['x'];
    this.text.remove(name, { owner, sub });
    this.naive.get(name)?.delete(`${owner} ${sub}`);
  }

  get expected(): string {
    return this.#lines()
      .map(([, lines]) => lines)
      .join('');
  }

  /** The same, each family below its header. */
  get expectedPage(): string {
    return this.#lines()
      .map(([name, lines]) => (lines === '' ? '' : headerText(facts(name)) + lines))
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
          .toSorted((a, b) => a.owner - b.owner || a.sub - b.sub)
          .map(({ text, value }) => (value === undefined ? text : `${text}${valueText(value)}\n`))
          .join(''),
      ]);
  }

  /** Renders, compares, and keeps the snapshot if told so; then its families are not looked at before the end. */
  render(isHeld = false, forms: Forms = FORMS.text): Snapshot {
    const snapshot = finished(this.text.rendering(forms));
    const { expected } = this;
    if (snapshot.forms.text) this.#expectPage(snapshot);
    else expect(snapshot.page).to.equal(undefined);
    expect(snapshot.bytes).to.equal(Buffer.byteLength(expected));
    expect(snapshot.series).to.equal(expected.split('\n').length - 1);
    if (isHeld) {
      this.held.push({ snapshot, text: expected, release: snapshot.hold() });
      return snapshot;
    }
    if (forms.deflated) {
      if (unpacked(snapshot) !== expected) expect(unpacked(snapshot)).to.equal(expected);
    }
    if (textOf(snapshot) !== expected) expect(textOf(snapshot)).to.equal(expected);
    expect(snapshot.families.map((family) => family.facts)).to.deep.equal(snapshot.facts);
    if (snapshot.forms.text) expectHeaders(snapshot);
    this.#expectSame(snapshot);
    return snapshot;
  }

  /** Renders where there is memory for so many pieces of it and no more. */
  renderWithout(memory: number, forms: Forms): void {
    const { arena } = this.kernel;
    const allocate = arena.allocate.bind(arena);
    let left = memory;
    arena.allocate = (bytes) => {
      if (left-- === 0) throw new Error('no memory');
      return allocate(bytes);
    };
    try {
      finished(this.text.rendering(forms));
    } catch (error) {
      expect(error).to.have.property('message', 'no memory');
    } finally {
      arena.allocate = allocate;
    }
  }

  /** Begins a render, and takes so many steps of it. */
  renderPartly(steps: number, forms: Forms): void {
    const rendering = this.text.rendering(forms);
    for (let i = 0; i < steps; i++) if (rendering.next().done === true) return;
  }

  #expectPage({ page = [] }: Snapshot): void {
    const { expectedPage } = this;
    const shown = Buffer.concat(page).toString();
    if (shown !== expectedPage) expect(shown).to.equal(expectedPage);
  }

  /** A family that is the same object says the same. */
  #expectSame({ families }: Snapshot): void {
    for (const family of families) {
      const said = Buffer.concat(family.pieces).toString();
      const before = this.#said.get(family) ?? said;
      if (before !== said) expect(said).to.equal(before);
      this.#said.set(family, said);
    }
  }

  /** Ends it all; what is held must have stayed as it was. */
  close(): void {
    finished(this.text.closing());
    for (const text of this.shared.values()) text.close();
    for (const { snapshot, text, release } of this.held) {
      expect(textOf(snapshot) === text).to.equal(true);
      if (snapshot.isDeflated === true) expect(unpacked(snapshot) === text).to.equal(true);
      release();
      release();
    }
    expect(this.kernel.arena.used).to.equal(this.before);
  }
}

/** Each family has its lines once more, in pieces that begin with its header. */
function expectHeaders({ families }: Snapshot): void {
  for (const { facts, pieces, headed } of families) {
    const lines = Buffer.concat(pieces).toString();
    const whole = Buffer.concat(headed === undefined ? [] : piecesOf(headed)).toString();
    if (whole !== headerText(facts) + lines) expect(whole).to.equal(headerText(facts) + lines);
    expect(headed?.header.bytes).to.equal(headerText(facts).length);
  }
}

const piecesOf = ({ memory, spans }: HeadedText): readonly Buffer[] =>
  spans.flatMap((at, i) =>
    i % 2 === 0 ? [Buffer.from(memory, at, (spans[i + 1] ?? 0) - at)] : [],
  );

export const textOf = ({ families }: Snapshot): string =>
  Buffer.concat(families.flatMap(({ pieces }) => pieces)).toString();

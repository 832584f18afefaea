// Tests the deflate stream of random lines while their values change and lines come and go. zlib and an inflater that
// shares no code with zlib must return the lines of a naive model.
import { expect } from 'chai';
import fc from 'fast-check';
import { gunzipSync } from 'node:zlib';
import type { Conversion } from '#app/catalogue/row.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import { headerText } from '#app/exposition/text/text-syntax.js';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';
import { MAX_LINES } from '#app/exposition/wasm/layout.js';
import type { FamilyMetadata, Snapshot } from '#app/model.js';
import { WHOLE, expectedText } from '../../support/expected-text.js';
import type { OpKind } from '../../support/expected-text.js';
import { bitsOf } from '../../support/fake-source.js';
import { inflate } from '../../support/inflate.js';
import { Cells, cellLine, fixedLine } from '../../support/lines.js';
import { runToEnd } from '#app/run-to-end.js';

/** Node ids have gaps, so that new lines come between the first ones. */
const GAP = 3;
const CELLS = 1000;
/** Bytes around the deflate stream of a gzip member: RFC 1952. */
const [GZIP_HEADER, GZIP_TRAILER] = [10, 8];

const word = (i: number): string => (Math.imul(i + 1, 2654435761) >>> 0).toString(36);
/** Labels of a node. Each kind leads to different matches with earlier lines. */
const LABELS: Readonly<Record<string, (node: number) => string>> = {
  numbered: (node) => `client="client-${node}"`,
  'the same every 8 lines': (node) =>
    `city="${word(node % 8)}",host="md-${node % 40}",id="${node}"`,
  random: (node) => `id="${word(node)}",host="a.example.net"`,
  'many differences': (node) =>
    Array.from('abcdefg', (each, i) => `${each}="${word(node + i)}"`).join(),
  'longer than a match': (node) => `x="${'y'.repeat(255 + (node % 10))}",id="${node}"`,
  'longer than the window': (node) => `x="${word(node % 8).repeat(700)}",id="${node}"`,
  'not ASCII': (node) => `text="é\\n\\"${'ü'.repeat(node % 4)}",id="${node}"`,
};
const NAMES = ['', '', '', '_sum', '_count'];
const SCALES: readonly Conversion[] = [
  WHOLE,
  { multiply: 1, divide: 1e6 },
  { multiply: 3, divide: 8 },
];
const KINDS = Object.keys(OPCODE) as readonly OpKind[];

interface Family {
  readonly labels: string;
  readonly lines: number;
  readonly kind: OpKind;
  readonly scale: Conversion;
}

const few = fc.oneof(fc.integer({ min: 1, max: 130 }), fc.constantFrom(31, 32, 33, 63, 64, 65));
const many = fc.constantFrom(MAX_LINES - 1, MAX_LINES, MAX_LINES + 1);
const familyOf = (lines: fc.Arbitrary<number>, labels: readonly string[]): fc.Arbitrary<Family> =>
  fc.record({
    lines,
    labels: fc.constantFrom(...labels),
    kind: fc.constantFrom(...KINDS),
    scale: fc.constantFrom(...SCALES),
  });

const EDGES = [0n, 1n, 9n, 10n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n];
const bits = fc.oneof(
  fc.bigInt({ min: 0n, max: 999n }),
  fc.constantFrom(...EDGES.flatMap((edge) => [edge, edge - 1n, -edge])),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.oneof(fc.double(), fc.constantFrom(Infinity, -0, 5e-324)).map((x) => bitsOf(x, 'f64')),
);
/** Lines at equal distances, of one family. */
const some = { family: fc.nat(2), first: fc.nat(70), every: fc.integer({ min: 1, max: 90 }) };
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      ...some,
      values: fc.array(bits, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('put' as const), ...some }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), ...some }) },
);
/** A render after some steps. A held snapshot must keep its bytes. */
const round = fc.record({
  steps: fc.array(step, { maxLength: 3 }),
  text: fc.boolean(),
  isHeld: fc.boolean(),
});

/** The text before the value, and the cell of the value. A line without a cell shows its node id. */
type NaiveLine = readonly [text: string, cell: number | undefined];

/** Lines, and their text in a naive model. */
class Lines {
  readonly #kernel = new Kernel();
  readonly #text = new ExpositionText(this.#kernel, undefined, () => true);
  readonly #cells = new Cells(this.#kernel, CELLS);
  readonly #values = Array.from({ length: CELLS }, () => 0n);
  /** The lines of each family, by node id. */
  readonly #model: Map<number, NaiveLine>[];

  constructor(readonly families: readonly Family[]) {
    this.#model = families.map(() => new Map<number, NaiveLine>());
    families.forEach(({ lines }, index) => {
      for (let i = 0; i < lines; i++) this.put(index, i * GAP);
    });
  }

  put(index: number, node: number): void {
    const { labels, kind, scale } = this.#family(index);
    const own = LABELS[labels]?.(node) ?? '';
    const suffix = NAMES[node % NAMES.length] ?? '';
    const cell = node % 11 === 10 ? undefined : (index + node) % CELLS;
    const opcode = this.#kernel.scales.scaledOpcode(OPCODE[kind], scale) ?? 0;
    const line =
      cell === undefined
        ? fixedLine(own, node, suffix)
        : cellLine(own, this.#cells.of(cell), opcode, suffix);
    const metadata = metadataOf(index);
    this.#text.put(metadata, index, { nodeId: node, seriesIndex: 0 }, line);
    this.#model[index]?.set(node, [`${metadata.name}${suffix}{${own}} `, cell]);
  }

  remove(index: number, node: number): void {
    this.#text.remove(metadataOf(index).name, { nodeId: node, seriesIndex: 0 });
    this.#model[index]?.delete(node);
  }

  set(cell: number, value: bigint): void {
    this.#values[cell] = BigInt.asUintN(64, value);
    this.#cells.setBits(cell, BigInt.asUintN(64, value));
  }

  render(text: boolean): Snapshot {
    return runToEnd(this.#text.rendering(text ? ['text', 'deflated'] : ['deflated']));
  }

  get expected(): string {
    return this.#model.map((lines, index) => this.#familyText(lines, index)).join('');
  }

  #familyText(lines: ReadonlyMap<number, NaiveLine>, index: number): string {
    const { kind, scale } = this.#family(index);
    const texts = [...lines]
      .sort(([a], [b]) => a - b)
      .map(([node, [text, cell]]) => {
        const value =
          cell === undefined ? String(node) : expectedText(this.#values[cell] ?? 0n, kind, scale);
        return `${text}${value}\n`;
      });
    return texts.length === 0 ? '' : headerText(metadataOf(index)) + texts.join('');
  }

  #family(index: number): Family {
    const family = this.families[index];
    if (family === undefined) throw new Error(`There is no family ${index}`);
    return family;
  }
}

const metadataOf = (index: number): FamilyMetadata => ({
  name: `shop_${index}`,
  type: 'gauge',
  unit: '',
  help: 'About a shop.',
});

function gzipOf(snapshot: Snapshot): Buffer {
  const gzip = TEXT.page({ snapshot, internal: [] }).gzip?.();
  if (gzip === undefined || gzip instanceof Promise) throw new Error('There is no stream');
  return Buffer.concat(gzip.buffers);
}

describe('the deflate stream of random lines', () => {
  /** The bit positions within a byte at which blocks of the kernel ended. */
  const borders = new Set<number>();

  function check(snapshot: Snapshot, expected: string): void {
    const gzip = gzipOf(snapshot);
    const shown = gunzipSync(gzip).toString();
    if (shown !== expected) expect(shown).to.equal(expected);
    const { text, blocks } = inflate(gzip.subarray(GZIP_HEADER, -GZIP_TRAILER));
    if (text.toString() !== expected) expect(text.toString()).to.equal(expected);
    blocks.forEach(({ kind, endBit, isLast }, i) => {
      expect(isLast).to.equal(i === blocks.length - 1);
      if (kind !== 'dynamic') return;
      // An empty stored block aligns the end of the lines to a byte.
      expect(blocks[i + 1]).to.include({ kind: 'stored', bytes: 0 });
      borders.add(endBit % 8);
    });
  }

  const tables = [
    [
      'up to three families',
      fc.array(familyOf(few, Object.keys(LABELS)), { minLength: 1, maxLength: 3 }),
      40,
    ],
    ['a family of one block or two', fc.tuple(familyOf(many, Object.keys(LABELS).slice(0, 4))), 6],
  ] as const;
  for (const [name, tested, numRuns] of tables)
    it(`inflates to the lines of ${name} after each change of values and lines`, () => {
      fc.assert(
        fc.property(tested, fc.array(round, { minLength: 1, maxLength: 8 }), (families, rounds) => {
          const lines = new Lines(families);
          const held: { gzip: () => Buffer; bytes: Buffer; release: () => void }[] = [];
          for (const { steps, text, isHeld } of rounds) {
            for (const { family: number, first, every, ...step } of steps) {
              const index = number % families.length;
              const end = (families[index]?.lines ?? 0) * GAP;
              for (let node = first; node < end; node += every)
                if (step.kind === 'put') lines.put(index, node);
                else if (step.kind === 'remove') lines.remove(index, node);
                else
                  lines.set((index + node) % CELLS, step.values[node % step.values.length] ?? 0n);
            }
            const snapshot = lines.render(text);
            check(snapshot, lines.expected);
            if (isHeld)
              held.push({
                gzip: () => gzipOf(snapshot),
                bytes: gzipOf(snapshot),
                release: snapshot.hold(),
              });
          }
          for (const { gzip, bytes, release } of held) {
            expect(gzip().equals(bytes), 'a held snapshot').to.equal(true);
            release();
          }
        }),
        { numRuns },
      );
      expect([...borders].sort()).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    });
});

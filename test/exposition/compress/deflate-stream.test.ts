// Tests pages whose deflate stream the kernel writes. gzip, Python and zlib decompress them.
import { spawnSync } from 'node:child_process';
import { deflateRawSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import type { FamilyMetadata, Page, Snapshot } from '#app/model.js';
import { runToEnd } from '#app/run-to-end.js';
import { Cells, cellLine, fixedLine } from '../../support/lines.js';
import { needsPrograms } from '../../support/needs.js';

const FAMILIES = 10;
const ENTITIES = 1500;
const BOTH = ['text', 'deflated'] as const;

/** Three labels of a client on a host, typical of exporters. */
const labelsOf = (entity: number): string =>
  `host="md-host-${String(entity % 40).padStart(4, '0')}.example.net",` +
  `client="client-${entity}",service="SERVICE_${String(entity % 25).padStart(3, '0')}"`;

const WORDS = ['orders', 'customers', 'sessions', 'baskets', 'returns', 'invoices', 'letters'];

interface Shape {
  readonly families: number;
  readonly lines: number;
  readonly labels: (i: number) => string;
}

class Fleet {
  readonly kernel = new Kernel();
  readonly text = new ExpositionText(this.kernel);
  readonly #values = new Cells(this.kernel, FAMILIES * ENTITIES);
  #seed = 1;

  constructor() {
    for (let family = 0; family < FAMILIES; family++)
      for (let entity = 0; entity < ENTITIES; entity++) {
        const name = `fleet_family_${family}_total`;
        const key = { nodeId: entity, seriesIndex: 0 };
        const index = family * ENTITIES + entity;
        const line = cellLine(labelsOf(entity), this.#values.of(index), OPCODE.f64);
        const metadata = { name, type: 'counter', unit: '', help: `Family ${family}.` } as const;
        this.text.put(metadata, 0, key, line);
        this.#values.set(index, this.#next(family));
      }
  }

  /**
   * A random value: in three of five families an integer, otherwise a number with 3 decimals or 53 random
   * bits.
   */
  #next(family: number): number {
    this.#seed = (Math.imul(this.#seed, 1664525) + 1013904223) >>> 0;
    const random = this.#seed / 2 ** 32;
    if (family % 5 < 3) return Math.floor(random * 100_000);
    return family % 5 === 3 ? Math.round(random * 1e6) / 1000 : random * 1000;
  }

  change(every: number): void {
    for (let i = 0; i < FAMILIES * ENTITIES; i += every)
      this.#values.set(i, this.#next(Math.floor(i / ENTITIES)));
  }
}

const pageOf = (snapshot: Snapshot): Page => TEXT.page({ snapshot, internal: [] });

const gzipOf = (page: Page): Buffer => {
  const gzip = page.gzip?.();
  if (gzip === undefined || gzip instanceof Promise) throw new Error('There is no stream');
  return Buffer.concat(gzip.buffers);
};

/** Returns the header of the first block, which contains the Huffman code. */
const codeOf = (snapshot: Snapshot): string =>
  Buffer.from(snapshot.lines('deflated')?.[0]?.data.subarray(0, 40) ?? []).toString('hex');

describe('a page of compressed lines', () => {
  const fleet = new Fleet();

  for (const [program, words] of [
    ['gzip', ['-dc']],
    [
      'python3',
      ['-c', 'import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.stdin.buffer).read())'],
    ],
  ] as const)
    it(`decompresses to its text with ${program}, even after changes`, function () {
      needsPrograms(this, program);
      for (const every of [1, 100, 7]) {
        fleet.change(every);
        const page = pageOf(runToEnd(fleet.text.rendering(BOTH)));
        const options = { input: gzipOf(page), maxBuffer: 2 ** 26 };
        const { stdout, status } = spawnSync(program, words, options);
        expect(status).to.equal(0);
        expect(stdout.equals(Buffer.concat(page.buffers))).to.equal(true);
      }
    });

  it('is at most 1.15 times as large as the output of zlib at level 1', () => {
    const page = pageOf(runToEnd(fleet.text.rendering(BOTH)));
    const fastest = deflateRawSync(Buffer.concat(page.buffers), { level: 1 }).length;
    expect(gzipOf(page).length / fastest).to.be.at.most(1.15);
  });

  const random = (i: number): string => (Math.imul(i + 1, 2654435761) >>> 0).toString(36);
  const fill = (text: ExpositionText, shape: Shape) => {
    for (let family = 0; family < shape.families; family++) {
      const name = `shop_${WORDS[family % 7]}_of_department_${family}`;
      const help = `How many ${WORDS[family % 7]} department ${family} has.`;
      const metadata = { name, type: 'gauge', unit: '', help };
      for (let nodeId = 0; nodeId < shape.lines; nodeId++)
        text.put(
          metadata as FamilyMetadata,
          family,
          { nodeId, seriesIndex: 0 },
          fixedLine(shape.labels(nodeId), (nodeId * family * 7919) % 100_003),
        );
    }
  };

  for (const [what, families, lines, usesKernel, labels] of [
    ['long families', 2, 1000, true, (i) => `host="host-${i}.example.net"`],
    ['numbered labels', 20, 150, false, (i) => `client="client-${i}",city="${i % 8}"`],
    ['random labels far apart', 9, 900, true, (i) => `id="${random(i)}",host="a.host.example.net"`],
    ['few lines in a family', 40, 15, false, (i) => `client="client-${i}"`],
    ['one line in a family', 300, 1, false, () => ''],
  ] as const satisfies readonly (readonly [
    string,
    number,
    number,
    boolean,
    (i: number) => string,
  ])[])
    it(`${usesKernel ? 'is at most 1.15 times as large as the output of zlib' : 'is left to zlib if its families are short'}: ${what}`, () => {
      const text = new ExpositionText(new Kernel());
      fill(text, { families, lines, labels });
      const snapshot = runToEnd(text.rendering(['deflated']));
      expect(snapshot.lines('deflated') !== undefined, 'by the kernel').to.equal(usesKernel);
      expect(snapshot.lines('text') === undefined).to.equal(usesKernel);
      if (!usesKernel) return;
      const gzip = gzipOf(pageOf(snapshot));
      const page = Buffer.concat(pageOf(snapshot).buffers);
      expect(gunzipSync(gzip).equals(page)).to.equal(true);
      expect(gzip.length / deflateRawSync(page, { level: 1 }).length).to.be.at.most(1.15);
    });

  it('gets a new Huffman code when it grows', () => {
    const before = codeOf(runToEnd(fleet.text.rendering(BOTH)));
    for (let i = 0; i < 300; i++) runToEnd(fleet.text.rendering(BOTH));
    expect(
      codeOf(runToEnd(fleet.text.rendering(BOTH))),
      'the same while the text is alike',
    ).to.equal(before);
    const metadata = { name: 'words', type: 'gauge', unit: '', help: '' } as const;
    for (let nodeId = 0; nodeId < 12_000; nodeId++) {
      const word = (nodeId * 7919).toString(36).replace(/\d/g, 'z');
      fleet.text.put(
        metadata,
        0,
        { nodeId, seriesIndex: 0 },
        fixedLine(`word="${word.repeat(5)}"`, 1),
      );
    }
    // The first render after the addition detects the growth. The second one chooses a new code.
    runToEnd(fleet.text.rendering(BOTH));
    expect(codeOf(runToEnd(fleet.text.rendering(BOTH)))).not.to.equal(before);
  });
});

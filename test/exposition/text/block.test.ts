// Block: lines in the kernel's memory.
import { expect } from 'chai';
import fc from 'fast-check';
import { Kernel, OPCODE, PADDING_BYTES } from '#app/exposition/wasm/kernel.js';
import { Block } from '#app/exposition/text/block.js';
import { seriesHash } from '#app/exposition/text/line.js';
import { StoredText, hashOf } from '#app/exposition/wasm/memory.js';
import { Cells, cellLine } from '../../support/lines.js';

const METADATA = { name: 'x', type: 'gauge', unit: '', help: '' } as const;

/** The number of bytes after a text's buffer that a write must not change. */
const CANARY = 64;

function blockOf(kernel: Kernel) {
  const block = new Block(kernel, METADATA);
  const name = new StoredText(kernel.texts, 'shop_x');
  const cells = new Cells(kernel, 4);
  const insert = (index: number, nodeId: number, labels: string, cell: number, opcode: number) =>
    block.insert(
      index,
      { nodeId, seriesIndex: 0 },
      name,
      cellLine(labels, cells.of(cell), opcode),
      nodeId * 7,
    );
  let [last, bytes] = [0, 0];
  const text = () => {
    block.sort();
    const to = kernel.arena.allocate(block.maxBytes + PADDING_BYTES);
    const from = kernel.run.writesAll(block.address) === 0 ? last : 0;
    bytes = kernel.run.render(block.address, from, bytes, to);
    last = to;
    return kernel.view(to, bytes).toString();
  };
  return { block, cells, insert, text };
}

describe('the hash of a series', () => {
  const hash = (name: { a: number; b: number }, labels: string) =>
    seriesHash(name, { suffix: '', labels, constant: '', cell: 0, opcode: 0 });

  it('differs for 100,000 series of two names, even if the hashes of the names have half of their bits in common', () => {
    const one = hashOf('shop_sales_total');
    for (const other of [
      { a: one.a, b: one.b ^ 1 },
      { a: one.a ^ 1, b: one.b },
    ]) {
      const seen = new Set<number>();
      for (let i = 0; i < 50_000; i++)
        for (const name of [one, other]) seen.add(hash(name, `{till="${i}"} `));
      expect(seen.size).to.equal(100_000);
    }
  });

  it('has a low byte that depends only on the labels and is evenly distributed', () => {
    const counts = new Array<number>(256).fill(0);
    for (let i = 0; i < 25_600; i++) {
      const labels = `{till="${i}"} `;
      const last = hash(hashOf('shop_sales_total'), labels) % 256;
      expect(hash(hashOf('shop_open'), labels) % 256).to.equal(last);
      counts[last] = (counts[last] ?? 0) + 1;
    }
    expect(Math.min(...counts)).to.be.above(50);
    expect(Math.max(...counts)).to.be.below(200);
  });
});

describe('a line block', () => {
  it('reserves space for the longest text of a value', () => {
    const { block, cells, insert, text } = blockOf(new Kernel());
    cells.set(0, -1.2345678901234567e-6);
    for (let i = 0; i < 100; i++) insert(i, i, '', 0, OPCODE.f64);
    expect(text().slice(0, 33)).to.equal('shop_x -0.0000012345678901234567\n');
    expect(block.maxBytes).to.equal(text().length);
  });

  it('does not write beyond the space that it reserves', () => {
    const kernel = new Kernel();
    const { block, cells, insert } = blockOf(kernel);
    fc.assert(
      fc.property(fc.double(), fc.string({ maxLength: 40 }), (value, labels) => {
        cells.set(0, value);
        insert(block.count, block.count, labels, 0, OPCODE.f64);
        const capacity = block.maxBytes + PADDING_BYTES;
        const to = kernel.arena.allocate(capacity + CANARY);
        kernel.bytes.fill(0x55, to, to + capacity + CANARY);
        kernel.run.render(block.address, 0, 0, to);
        const after = kernel.bytes.slice(to + capacity, to + capacity + CANARY);
        kernel.arena.free(to, capacity + CANARY);
        expect(new Set(after)).to.deep.equal(new Set([0x55]));
      }),
    );
  });

  it('works with memory addresses beyond 2 GiB', () => {
    const kernel = new Kernel();
    kernel.arena.allocate(2 ** 31);
    const { block, cells, insert, text } = blockOf(kernel);
    for (let i = 0; i < 9; i++) insert(i, i, `i="${i}"`, i % 2, OPCODE.u64);
    cells.setBits(1, 7n);
    block.remove(0);
    expect(block.hash(0)).to.equal(7);
    expect(text()).to.match(/^shop_x\{i="1"\} 7\nshop_x\{i="2"\} 0\n/);
    expect(block.isTextDirty).to.equal(false);
    cells.setBits(1, 8n);
    expect(block.isTextDirty).to.equal(true);
  });

  it('writes all lines of a changed cell', () => {
    const { block, cells, insert, text } = blockOf(new Kernel());
    for (let i = 0; i < 40; i++) insert(i, i, `i="${i}"`, i % 4, OPCODE.u64);
    text();
    cells.setBits(2, 1n);
    expect(text().match(/ 1$/gm)).to.have.lengthOf(10);
    for (let i = 0; i < 30; i++) block.remove(0);
    cells.setBits(3, 1n);
    expect(text().match(/ 1$/gm)).to.have.lengthOf(6);
  });

  it('frees its memory when it is closed', () => {
    const kernel = new Kernel();
    const before = kernel.arena.used;
    const block = new Block(kernel, METADATA);
    const name = new StoredText(kernel.texts, 'shop_x');
    const cells = new Cells(kernel, 1);
    for (let i = 0; i < 100; i++)
      block.insert(
        i,
        { nodeId: i, seriesIndex: 0 },
        name,
        cellLine(`i="${i}"`, cells.at, OPCODE.u64),
        i,
      );
    block.close();
    name.close();
    kernel.arena.free(cells.at, 16);
    expect(kernel.arena.used).to.equal(before);
  });
});

// Lines in the kernel's memory: kept, moved, and never written beyond the room that is asked for.
import { expect } from 'chai';
import { Kernel, OP } from '#app/exposition/kernel/kernel.js';
import { LineTable } from '#app/exposition/kernel/line-table.js';

describe('a table of lines', () => {
  it('has room for the longest text that a value may have', () => {
    const kernel = new Kernel();
    const table = new LineTable(kernel, 4);
    const value = kernel.arena.take(8);
    kernel.f64[value / 8] = -1.2345678901234567e-6;
    const line = { text: 'shop_x ', value, op: OP.f64 };
    for (let i = 0; i < 100; i++) table.insert(i, line);
    const to = kernel.arena.take(10_000);
    const written = kernel.run.renderAll(table.address, table.count, to);
    expect(kernel.window(to, 33).toString()).to.equal('shop_x -0.0000012345678901234567\n');
    expect(table.roomNeeded).to.equal(written);
  });

  it('works beyond 2 GiB', () => {
    const kernel = new Kernel();
    kernel.arena.take(2 ** 31);
    const table = new LineTable(kernel, 4);
    const value = kernel.arena.take(8);
    kernel.u64[value / 8] = 7n;
    for (let i = 0; i < 9; i++) table.insert(i, { text: `shop_x{i="${i}"} `, value, op: OP.u64 });
    table.remove(0);
    expect(table.line(0)).to.deep.equal({ text: 'shop_x{i="1"} ', value, op: OP.u64 });
    const to = kernel.arena.take(table.roomNeeded);
    expect(kernel.run.isDirty(table.address, table.count)).to.equal(1);
    const written = kernel.run.renderAll(table.address, table.count, to);
    expect(kernel.window(to, written).toString()).to.match(/^shop_x\{i="1"\} 7\n/);
    expect(kernel.run.isDirty(table.address, table.count)).to.equal(0);
  });
});

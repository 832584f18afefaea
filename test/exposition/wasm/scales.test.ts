// The scales of a kernel: entries with reference counts, in a table that grows up to a limit.
import { expect } from 'chai';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';

const MAX_SCALES = 65_536;

describe('the scales of a kernel', () => {
  const kernel = new Kernel();
  const { scales, arena } = kernel;
  const at = arena.allocate(64);
  const before = arena.used;

  const hold = (divide: number): number => {
    const flags = scales.acquire({ multiply: 1, divide });
    if (flags === undefined) throw new Error(`no room for ${divide}`);
    return flags;
  };
  const written = (value: bigint, flags: number): string => {
    const end = kernel.run.writeValue(value, OPCODE.u64 | flags, at) >>> 0;
    return kernel.view(at, end - at).toString();
  };

  it('share a table entry if their factors are equal, and need no entry for the factor 1', () => {
    expect(scales.acquire({ multiply: 1, divide: 1 })).to.equal(0);
    const [one, again, other] = [hold(4), hold(4), hold(8)];
    expect(again).to.equal(one);
    expect(other).not.to.equal(one);
    for (const flags of [one, again, other]) scales.release(flags);
    expect(arena.used).to.equal(before);
  });

  it('keep their factors while the table grows', () => {
    const held = Array.from({ length: 1000 }, (_, i) => hold(2 + i));
    const wrong = held.filter((flags, i) => written(BigInt(6 * (2 + i)), flags) !== '6');
    expect(wrong).to.deep.equal([]);
    for (const flags of held) scales.release(flags);
    expect(arena.used).to.equal(before);
  });

  it('stay until the last holder releases them', () => {
    const [one, again] = [hold(4), hold(4)];
    scales.release(one);
    expect(written(8n, again)).to.equal('2');
    const other = hold(8);
    expect(other).not.to.equal(again);
    scales.release(again);
    expect(hold(16)).to.equal(again);
    expect(written(32n, again)).to.equal('2');
    for (const flags of [again, other]) scales.release(flags);
  });

  it('are refused beyond the limit until a scale is released', () => {
    const held = Array.from({ length: MAX_SCALES }, (_, i) => hold(2 + i));
    const [first = 0] = held;
    expect(scales.acquire({ multiply: 3, divide: 7 })).to.equal(undefined);
    expect(hold(2)).to.equal(first);
    scales.release(first);
    scales.release(first);
    expect(scales.acquire({ multiply: 3, divide: 7 })).to.equal(first);
    expect(written(7n, first)).to.equal('3');
    expect(written(BigInt(MAX_SCALES + 1), held.at(-1) ?? 0)).to.equal('1');
    for (const flags of held) scales.release(flags);
    expect(arena.used).to.equal(before);
  });
});

// The scales of a kernel: distinct entries of a table that grows up to a limit.
import { expect } from 'chai';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';

const MAX_SCALES = 65_536;

describe('the scales of a kernel', () => {
  const kernel = new Kernel();
  const { scales, arena } = kernel;
  const at = arena.allocate(64);
  const opcodeOf = (multiply: number, divide: number) =>
    scales.scaledOpcode(OPCODE.u64, { multiply, divide }) ?? 0;
  const written = (value: bigint, opcode: number): string => {
    const end = kernel.run.writeValue(value, opcode, at) >>> 0;
    return kernel.view(at, end - at).toString();
  };

  it('share a table entry if their factors are equal, and need no entry for the factor 1', () => {
    expect(opcodeOf(1, 1)).to.equal(OPCODE.u64);
    const [one, again, others] = [opcodeOf(1, 4), opcodeOf(1, 4), [opcodeOf(1, 8), opcodeOf(4, 1)]];
    expect(again).to.equal(one);
    expect(new Set([one, ...others]).size).to.equal(3);
  });

  it('keep their factors while the table grows up to its limit', () => {
    const opcodes = Array.from({ length: MAX_SCALES - 1 }, (_, i) => opcodeOf(1, 2 + i));
    expect(scales.scaledOpcode(OPCODE.u64, { multiply: 3, divide: 7 })).to.equal(undefined);
    const wrong = opcodes.filter((opcode, i) => written(BigInt(6 * (2 + i)), opcode) !== '6');
    expect(wrong).to.deep.equal([]);
    expect(opcodeOf(1, 2), 'an entry that exists').to.equal(opcodes[0]);
  });
});

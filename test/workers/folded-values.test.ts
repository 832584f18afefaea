// Tests how values of workers are read for a folded tree.
import { expect } from 'chai';
import { InputReader } from '#app/workers/folded-values.js';
import type { FoldedVariable, Input } from '#app/workers/folded-values.js';
import { FakeSource } from '../support/fake-source.js';

describe('the values of a worker', () => {
  it('do not include a value that the slot had before it got the variable', () => {
    /** A source whose variable gets its first value while the reader copies the values. */
    class Changing extends FakeSource {
      readonly variable = this.addVariable(this.addObject('h.1.a', 'A'), 'x', { type: 'u64' });

      override readSlots(first: number, count: number, into: Uint8Array): number {
        const copied = super.readSlots(first, count, into);
        this.setSlot(this.variable, 1n);
        return copied;
      }
    }
    const source = new Changing();
    const { variable } = source;
    const folded = { isCounter: true } as FoldedVariable;
    const input: Input = { variable, folded, low: -1, high: -1, value: undefined, read: 0 };
    const reader = new InputReader();
    const read = (): Input['value'] => {
      const inputs = new Map([[variable.id, input]]);
      reader.read({ source, inputs, slots: variable.slot + 1 }, new Set());
      return input.value;
    };
    expect([read(), read()]).to.deep.equal([undefined, 1n]);
  });

  it('are those of the later one of two reads that take turns', () => {
    const source = new FakeSource();
    const object = source.addObject('h.1.a', 'A');
    const inputs = new Map<number, Input>();
    let slots = 0;
    for (let number = 0; number < 1100; number++) {
      const variable = source.addVariable(object, `v${number}`, { type: 'u64', value: 1n });
      const folded = { isCounter: true } as FoldedVariable;
      inputs.set(variable.id, { variable, folded, low: -1, high: -1, value: undefined, read: 0 });
      slots = Math.max(slots, variable.slot + 1);
    }
    const reader = new InputReader();
    const earlier = reader.reading({ source, inputs, slots }, new Set());
    earlier.next();
    for (const { variable } of inputs.values()) source.setSlot(variable, 2n);
    reader.read({ source, inputs, slots }, new Set());
    while (earlier.next().done !== true);
    for (const { value } of inputs.values()) expect(value).to.equal(2n);
  });
});

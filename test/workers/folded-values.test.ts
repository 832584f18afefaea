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
    const input: Input = { variable, folded, low: -1, high: -1, value: undefined };
    const reader = new InputReader();
    const read = (): Input['value'] => {
      const inputs = new Map([[variable.id, input]]);
      reader.read({ source, inputs, slots: variable.slot + 1 }, new Set());
      return input.value;
    };
    expect([read(), read()]).to.deep.equal([undefined, 1n]);
  });
});

import { expect } from 'chai';
import { isForeground } from '#app/simulator/component/component.js';

describe('isForeground', () => {
  const table = [
    ['417 (node) S 300 417 300 34816 417 4194304 0', true],
    ['417 (node) S 300 417 300 34816 300 4194304 0', false],
    ['417 (node) S 300 417 300 0 -1 4194304 0', false],
    ['417 (a (b) c) S 300 417 300 34816 417 4194304 0', true],
    ['', false],
  ] as const;
  for (const [stat, expected] of table)
    it(`says ${expected} of ${JSON.stringify(stat)}`, () =>
      expect(isForeground(stat)).to.equal(expected));
});

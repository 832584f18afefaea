// Tests how two values are folded into one.
import { expect } from 'chai';
import { fold } from '#app/foreign/fold.js';
import type { FoldRule } from '#app/foreign/fold.js';
import type { ValueType } from '#app/published.js';
import { bitsOf as bits } from '../support/fake-source.js';

const bitsOf = (value: number): bigint => bits(value, 'f64');

describe('folded values', () => {
  const MOST = 2n ** 64n - 1n;
  const table: readonly [string, ValueType, FoldRule, bigint, bigint, bigint][] = [
    ['wrap around at 64 bits', 'u64', 'sum', MOST, 2n, 1n],
    ['add a negative number', 'i64', 'sum', MOST, 3n, 2n],
    ['compare signed numbers', 'i64', 'min', MOST, 0n, MOST],
    ['compare unsigned numbers', 'u64', 'max', MOST, 0n, MOST],
    ['add doubles', 'f64', 'sum', bitsOf(0.5), bitsOf(-2), bitsOf(-1.5)],
    ['skip a NaN in a minimum', 'f64', 'min', bitsOf(NaN), bitsOf(3), bitsOf(3)],
    ['skip a NaN in a maximum', 'f64', 'max', bitsOf(3), bitsOf(NaN), bitsOf(3)],
    ['are NaN if a term of a sum is', 'f64', 'sum', bitsOf(3), bitsOf(NaN), bitsOf(NaN)],
    ['are true if one Boolean is', 'bool', 'sum', 0n, 1n, 1n],
    ['are false if one Boolean is, with min', 'bool', 'min', 0n, 1n, 0n],
  ];
  for (const [title, type, rule, one, other, wanted] of table)
    it(title, () => expect(fold(type, rule, one, other)).to.equal(wanted));
});

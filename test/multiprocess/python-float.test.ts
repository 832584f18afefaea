// Tests the texts of bounds against those that floatToGoString of prometheus_client 0.16.0 and 0.21.1 returns.
import { expect } from 'chai';
import { pythonFloat } from '#app/multiprocess/python-float.js';

describe('the bound of a bucket in the Python dialect', () => {
  const texts = [
    [0.005, '0.005'],
    [1, '1.0'],
    [2.5, '2.5'],
    [999_999, '999999.0'],
    [1e6, '1e+06'],
    [1_234_567.5, '1.2345675e+06'],
    [123_456_789_012, '1.23456789012e+011'],
    [1e15, '1e+015'],
    [1e16, '1e+16'],
    [1.5e22, '1.5e+22'],
    [0.0001, '0.0001'],
    [0.000_012_5, '1.25e-05'],
    [5e-324, '5e-324'],
    [0, '0.0'],
    [-0, '-0.0'],
    [-1e7, '-10000000.0'],
    [-1e16, '-1e+16'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
  ] as const;
  for (const [bound, text] of texts)
    it(`is ${text} for ${bound}`, () => expect(pythonFloat(bound)).to.equal(text));
});

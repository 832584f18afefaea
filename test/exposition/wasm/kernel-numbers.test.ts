// Tests the text that the kernel writes for numbers, against a TypeScript implementation.
import { randomFillSync } from 'node:crypto';
import { expect } from 'chai';
import { Kernel, OPCODE } from '#app/exposition/wasm/kernel.js';
import { MAX_VALUE_BYTES } from '#app/exposition/text/block.js';
import { floatText } from '#app/exposition/text/text-syntax.js';
import { WHOLE, expectedText, wide } from '../../support/expected-text.js';
import type { OpKind } from '../../support/expected-text.js';

const ANY_BITS = 60_000;

const kernel = new Kernel();
const at = kernel.arena.allocate(64);
const output = kernel.view(at, 64);

const bitsOf = (x: number): bigint => new BigUint64Array(Float64Array.of(x).buffer)[0] ?? 0n;

/** Returns the first values whose text differs from the expected one. */
function mistakes(all: Iterable<bigint>, kind: OpKind, scale = WHOLE): string[] {
  const opcode = kernel.scales.scaledOpcode(OPCODE[kind], scale) ?? 0;
  const found: string[] = [];
  for (const bits of all) {
    const end = kernel.run.writeValue(bits, opcode, at) >>> 0;
    const text = output.toString('latin1', 0, end - at);
    const wanted = expectedText(bits, kind, scale);
    if (text !== wanted && found.push(`${bits.toString(16)}: ${text}, not ${wanted}`) > 5) break;
    if (text.length >= MAX_VALUE_BYTES) found.push(`${text} has no room`);
  }
  return found;
}

const doubles = (...numbers: number[]): bigint[] => numbers.flatMap((x) => [bitsOf(x), bitsOf(-x)]);

/** A double and the three nearest doubles on each side. */
const around = (x: number): bigint[] =>
  Array.from({ length: 7 }, (_, i) => BigInt.asUintN(64, bitsOf(x) + BigInt(i - 3)));

const anyBits = () => randomFillSync(new BigUint64Array(ANY_BITS));
const random = (most: number) => Math.random() * most;
const many = (make: () => number, count = 20_000): bigint[] =>
  doubles(...Array.from({ length: count }, make));

const EDGES = [0n, 1n, 9n, 10n, 99n, 100n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n].flatMap(
  (n) => [n - 1n, n, n + 1n, -n].map((each) => BigInt.asUintN(64, each)),
);
const POWERS = Array.from({ length: 20 }, (_, k) => 10n ** BigInt(k));
const INTEGERS = [...EDGES, ...POWERS, ...POWERS.map((n) => n - 1n), 2n ** 64n - 1n];
const WRAPS = [0n, 1n, 5n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 63n].map(
  (n) => BigInt.asUintN(64, -n),
);

describe('the kernel', () => {
  describe('writes the shortest text that parses to the same double, for', () => {
    const exponents = Array.from({ length: 2048 }, (_, e) => BigInt(e) << 52n);
    const tens = Array.from({ length: 640 }, (_, k) => Number(`1e${k - 325}`));
    const tables: Record<string, () => Iterable<bigint>> = {
      'random bits': anyBits,
      'powers of two and their neighbours': () => exponents.flatMap((bits) => around(wide(bits))),
      'powers of ten and their neighbours': () => tens.flatMap(around),
      'subnormal numbers': () =>
        anyBits()
          .subarray(0, 10_000)
          .map((bits) => bits >> 12n),
      'integers around 2^53': () => many(() => Math.trunc(2 ** 53 + random(4000) - 2000), 2000),
      'integers of all sizes': () => many(() => Math.trunc(2 ** random(70))),
      'numbers with three decimals': () => many(() => Math.round(10 ** random(16)) / 1e3),
      'numbers with six decimals': () => many(() => Math.round(10 ** random(17)) / 1e6),
      'small numbers with and without an exponent': () => many(() => 10 ** (random(8) - 10)),
      'large numbers with and without an exponent': () => many(() => 10 ** (random(6) + 17)),
      'zeros, NaN, infinities and extremes': () =>
        doubles(0, NaN, Infinity, 5e-324, Number.MAX_VALUE),
    };
    for (const [name, values] of Object.entries(tables))
      it(name, () => expect(mistakes(values(), 'f64')).to.deep.equal([]));
  });

  const special = [
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [NaN, 'NaN'],
    [0, '0'],
    [-0, '-0'],
    [1e21, '1e+21'],
    [-1.2345678901234567e-6, '-0.0000012345678901234567'],
  ] as const;
  for (const [value, text] of special)
    it(`writes ${text}`, () => {
      const end = kernel.run.writeValue(bitsOf(value), OPCODE.f64, at);
      expect(output.toString('latin1', 0, end - at)).to.equal(text);
      expect(floatText(value)).to.equal(text);
    });

  for (const kind of ['u64', 'i64', 'bool', 'wrap32'] as const)
    it(`writes extreme and random values of type ${kind} exactly`, () => {
      expect(mistakes([...INTEGERS, ...WRAPS], kind)).to.deep.equal([]);
      expect(mistakes(anyBits(), kind)).to.deep.equal([]);
    });

  const scales = [
    [{ multiply: 1, divide: 100 }, 'hundredths'],
    [{ multiply: 1, divide: 1e6 }, 'microseconds'],
    [{ multiply: 86_400, divide: 1 }, 'days'],
    [{ multiply: 3, divide: 8 }, 'eighths'],
  ] as const;
  for (const [scale, name] of scales)
    for (const kind of ['u64', 'i64', 'f64', 'bool', 'wrap32'] as const)
      it(`applies the scale of ${name} to values of type ${kind}: multiplies, then divides`, () => {
        const edges = [...INTEGERS, ...WRAPS, ...special.map(([x]) => bitsOf(x))];
        expect(mistakes(edges, kind, scale)).to.deep.equal([]);
        expect(mistakes(anyBits().subarray(0, 5000), kind, scale)).to.deep.equal([]);
      });
});

// Tests key paths and values in messages.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { TomlDate, keyPath, shown } from '#app/document/document.js';

describe('keyPath', () => {
  const table = [
    [['app'], 'app'],
    [['targets', 1, 'classes', 0], 'targets[1].classes[0]'],
    [['odd key'], '"odd key"'],
    [['a', 'b\n'], 'a."b\\n"'],
    [[], ''],
  ] as const;
  for (const [path, wanted] of table)
    it(`formats ${JSON.stringify(path)} as ${wanted || 'an empty string'}`, () =>
      expect(keyPath(path)).to.equal(wanted));
});

describe('the text of a value in a message', () => {
  const table: readonly (readonly [raw: unknown, text: string])[] = [
    ['a"b', '"a\\"b"'],
    ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
    ['\u007f\u2028', '"\\u{7f}\\u{2028}"'],
    [82n, '82'],
    [9464, '9464.0'],
    [2.5, '2.5'],
    [1e300, '1e+300'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [NaN, 'nan'],
    [true, 'true'],
    [[], 'an empty array'],
    [[1n, 2n], 'an array of 2'],
    [{ a: 1n }, 'a table'],
    [new TomlDate('07:32:00'), 'the date or time 07:32:00'],
  ];
  for (const [raw, text] of table)
    it(`is ${text} for ${inspect(raw)}`, () => expect(shown(raw)).to.equal(text));
});

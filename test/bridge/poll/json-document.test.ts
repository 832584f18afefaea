// Tests the parser for JSON that arrives in pieces, with exact integers.
import { expect } from 'chai';
import fc from 'fast-check';
import { JsonDocument } from '#app/bridge/poll/json-document.js';
import type { Json, JsonObject } from '#app/bridge/poll/json-document.js';
import { PollFailure } from '#app/bridge/poll/fetch-body.js';

const BOUNDS = { mostNesting: 50, mostBrackets: 1000, mostCommas: 2000, mostLongIntegers: 100 };

const read = (body: string | Uint8Array, pieces = 1): Json => {
  const bytes = Buffer.from(body);
  const document = new JsonDocument(BOUNDS);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length; at += size) document.write(bytes.subarray(at, at + size));
  return document.end();
};

const failureOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof PollFailure) return `${error.reason}: ${error.message}`;
    throw error;
  }
  return 'none';
};

describe('The reader of JSON documents', () => {
  const numbers: readonly (readonly [string, number | bigint])[] = [
    ['0', 0],
    ['-0', -0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['1234567890123456', 1234567890123456],
    ['-1234567890123456', -1234567890123456],
    ['99999999999999999999', 99999999999999999999n],
    ['123456789012345678901', 123456789012345680000],
    ['12345678901234567.5', 12345678901234568],
    ['12345678901234567e-2', 123456789012345.67],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775808', 9223372036854775808n],
    ['18446744073709551615', 18446744073709551615n],
    ['1e3', 1000],
    ['1.5', 1.5],
    ['1e400', Infinity],
    ['1e+0000000000000003', 1000],
    ['1E-0000000000000003', 0.001],
    [`1${'0'.repeat(60)}`, 1e60],
  ];
  for (const [text, value] of numbers)
    it(`reads '${text.slice(0, 30)}' as ${typeof value} ${String(value)}`, () => {
      expect(read(`[${text}]`)).to.deep.equal([value]);
      expect(read(text, text.length)).to.equal(value);
    });

  it('reads a number with a million digits in linear time', () =>
    expect(read(`[${'9'.repeat(1_000_000)}]`)).to.deep.equal([Infinity]));

  it('reads any output of JSON.stringify, however it is divided into pieces', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8 }),
        fc.integer({ min: 1, max: 40 }),
        (value, pieces) => {
          const text = JSON.stringify(value);
          // Beyond 2^53, JsonDocument is more exact than a number, so compare as texts.
          const plain = JSON.stringify(read(text, pieces), (_, each: unknown) =>
            typeof each === 'bigint' ? Number(each) : each,
          );
          expect(plain).to.equal(JSON.stringify(JSON.parse(text)));
        },
      ),
    );
  });

  it('keeps integers of any size exact, however the document is divided into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(-(2n ** 64n), 2n ** 64n)), fc.nat(30), (values, pieces) => {
        const text = `[${values.join(',')}]`;
        const found = read(text, pieces + 1) as readonly (number | bigint)[];
        expect(found.map(BigInt)).to.deep.equal(values);
      }),
    );
  });

  it('keeps every character of a string, even byte order marks, however the document is divided into pieces', () => {
    const text = fc.string({
      unit: fc.constantFrom('\ufeff', 'a', '\n', 'ä', '\u2028', '"', '\u{1f600}'),
    });
    fc.assert(
      fc.property(fc.array(text), fc.integer({ min: 1, max: 60 }), (texts, pieces) => {
        expect(read(JSON.stringify(texts), pieces)).to.deep.equal(texts);
        const spelt = JSON.stringify(texts).replace(/ä/g, '\\u00e4');
        expect(read(`\ufeff${spelt}`, pieces)).to.deep.equal(texts);
      }),
    );
  });

  const BAD: Readonly<Record<string, string | Uint8Array>> = {
    'an empty document': '',
    'a document of blanks': ' \n ',
    'a document that ends early': '[{"a":1}',
    'a text that ends early': '["abc',
    NaN: '[NaN]',
    'a missing comma': '[1 2]',
    'a trailing comma': '[1,]',
    'data after the end': '[1] [2]',
    'bytes that are not UTF-8': Buffer.from([0x5b, 0x22, 0xc3, 0x28, 0x22, 0x5d]),
    'a lone continuation byte': Buffer.from([0x5b, 0x22, 0x80, 0x22, 0x5d]),
    'a byte that UTF-8 never uses': Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]),
    'a control character in a text': '["\u0001"]',
    HTML: '<html>',
    'a long number that begins with 0': '[01234567890123456]',
    'a long number with a sign in it': '[12345678-9012345678]',
    'a long number that ends early': '[-',
    'a long number in place of a name': '{9007199254740993:1}',
    'a long number after a plus sign': '[+9007199254740993]',
  };
  for (const [name, body] of Object.entries(BAD))
    it(`refuses ${name}`, () => {
      for (const pieces of [1, 3, 100])
        expect(failureOf(() => read(body, pieces))).to.match(/^bad_json: the body is/);
    });

  it('describes an error in one short line', () => {
    const message = failureOf(() => read(`[${'\u001b[2J'.repeat(1000)}]`));
    expect(message.length).to.be.below(250);
    expect(message).not.to.match(/[\p{Cc}\p{Cf}]/u);
  });

  it('refuses a document at the first nesting level beyond the limit', () => {
    const deep = '['.repeat(51);
    const document = new JsonDocument(BOUNDS);
    expect(
      failureOf(() => {
        document.write(Buffer.from(deep));
      }),
    ).to.match(/^too_deep: .* 50 levels/);
    expect(read('['.repeat(50) + ']'.repeat(50))).to.be.an('array');
  });

  it('ignores brackets in strings when it counts nesting levels', () => {
    expect(read(`["${'['.repeat(100)}"]`)).to.deep.equal(['['.repeat(100)]);
    expect(read(`[${'[],'.repeat(100)}[]]`)).to.have.lengthOf(101);
  });

  it('refuses a document at the first array or object beyond the limit', () => {
    const flat = `[${'{},'.repeat(1000)}`;
    expect(failureOf(() => read(flat))).to.match(/^too_many: .* 1000 arrays and objects/);
  });

  it('refuses a document at the first item or member beyond the limit', () => {
    expect(failureOf(() => read(`[${'1,'.repeat(2001)}`))).to.match(/^too_many: .* 2000 commas/);
    expect(failureOf(() => read(`{${'"a":1,'.repeat(2001)}`))).to.match(/^too_many: /);
    expect(read(`[${'1,'.repeat(2000)}1]`)).to.have.lengthOf(2001);
    expect(read(`["${','.repeat(2001)}"]`)).to.be.an('array');
  });

  it('never rounds long integers, and refuses a document with too many of them', () => {
    const list = (length: number) => `[${Array(length).fill('9007199254740993').join(',')}]`;
    expect(read(list(100))).to.deep.equal(Array(100).fill(9007199254740993n));
    expect(failureOf(() => read(list(101)))).to.match(
      /^too_many: .* 100 integers with 16 or more digits/,
    );
  });

  it('needs little memory for a document that arrives byte by byte', () => {
    const document = new JsonDocument(BOUNDS);
    const heap = (): number => {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    for (let byte = 0; byte < 300_000; byte++) document.write(Buffer.from(' '));
    expect(heap() - before).to.be.below(10 << 20);
    document.write(Buffer.from('[7]'));
    expect(document.end()).to.deep.equal([7]);
  });

  it('does not mistake digits in strings for long numbers', () => {
    const texts = ['1234567890123456789', '"12345678901234567890\\', '-9007199254740993'];
    expect(read(JSON.stringify(texts))).to.deep.equal(texts);
    expect(read('{"9007199254740993":[9007199254740993,"9007199254740993"]}')).to.deep.equal({
      '9007199254740993': [9007199254740993n, '9007199254740993'],
    });
  });

  it('reads members named "constructor" or "__proto__" like all other members', () => {
    const value = read('{"__proto__":9007199254740993,"constructor":2}') as JsonObject;
    expect(Object.keys(value)).to.deep.equal(['__proto__', 'constructor']);
    expect(Object.entries(value)[0]?.[1]).to.equal(9007199254740993n);
  });
});
